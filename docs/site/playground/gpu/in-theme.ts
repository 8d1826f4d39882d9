/**
 * A page of a report, dark or light whatever the system prefers: for a frame in a page that has a switch for it.
 *
 * @param html - has one media query for the dark colours
 */
export function inTheme(html: string, isDark: boolean): string {
  return html
    .replace('@media (prefers-color-scheme: dark)', isDark ? '@media all' : '@media not all')
    .replace('color-scheme: light dark;', `color-scheme: ${isDark ? 'dark' : 'light'};`)
    .replace('content="light dark"', `content="${isDark ? 'dark' : 'light'}"`);
}
