/** The one style sheet of a conformance page. Colours are never the only sign: a word stands beside each. */
export const STYLES = `
:root {
  color-scheme: light dark;
  --page: #f6f7f9; --card: #ffffff; --text: #1b1f24; --soft: #5a6472; --line: #d9dee5; --code: #eef1f5;
  --pass: #17683a; --pass-fill: #dff3e6; --pass-bar: #34a35f;
  --fail: #a4161a; --fail-fill: #fde5e5; --fail-bar: #d83b3f;
  --none: #6b4e00; --none-fill: #fbf0d0; --none-bar: #d3a21c;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #101317; --card: #191e24; --text: #e7ebf0; --soft: #9aa5b3; --line: #313943; --code: #222932;
    --pass: #7ddba0; --pass-fill: #15311f; --pass-bar: #3aa866;
    --fail: #ff9a9a; --fail-fill: #431a1c; --fail-bar: #e2565a;
    --none: #f0cd6b; --none-fill: #3a2f10; --none-bar: #c79a22;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 72rem; padding: 2rem 1.25rem 3rem; background: var(--page); color: var(--text);
  font: 1rem/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif;
}
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 .25rem; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 .75rem; }
h3 { font-size: 1rem; margin: 0; overflow-wrap: anywhere; }
p { margin: .25rem 0; }
a { color: inherit; }
.soft { color: var(--soft); }
.small { font-size: .875rem; }
code, .number { font-family: ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace; font-size: .85em; }
code { background: var(--code); border-radius: .25rem; padding: .1em .3em; overflow-wrap: anywhere; }
.verdict { font-size: 1.1rem; font-weight: 600; margin: .75rem 0; }
.badge { display: inline-block; border-radius: .3rem; padding: .05rem .5rem; font-size: .875rem; font-weight: 600; white-space: nowrap; }
.pass { color: var(--pass); } .fail { color: var(--fail); } .none { color: var(--none); }
.badge.pass { background: var(--pass-fill); } .badge.fail { background: var(--fail-fill); } .badge.none { background: var(--none-fill); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 19rem), 1fr)); gap: 1rem; margin: 1.25rem 0; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: 1rem; min-width: 0; }
.card header { margin-bottom: .35rem; display: flex; flex-wrap: wrap; gap: .5rem; justify-content: space-between; align-items: center; }
dl { font-size: .94rem; display: grid; grid-template-columns: max-content 1fr; gap: .15rem .75rem; margin: .5rem 0 0; }
dt { color: var(--soft); } dd { margin: 0; min-width: 0; overflow-wrap: anywhere; }
.bar { display: flex; gap: 2px; height: .4rem; border-radius: .2rem; overflow: hidden; margin: .35rem 0; background: var(--line); print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.bar span { min-width: 3px; } .bar .pass { background: var(--pass-bar); } .bar .fail { background: var(--fail-bar); } .bar .none { background: var(--none-bar); }
.matrix { width: 100%; table-layout: fixed; border-collapse: separate; border-spacing: 0; background: var(--card); border: 1px solid var(--line); border-radius: .6rem; overflow: hidden; }
.matrix th, .matrix td { text-align: left; vertical-align: top; padding: .5rem .75rem; border-top: 1px solid var(--line); }
.matrix thead th { border-top: 0; background: var(--code); }
.matrix tfoot th, .matrix tfoot td { border-top-width: 2px; font-weight: 600; }
.matrix th { font-weight: 600; }
.matrix thead th:first-child { width: 10rem; }
.counts { display: flex; flex-wrap: wrap; gap: .1rem .75rem; }
.counts span { white-space: nowrap; }
details { margin: .75rem 0; }
details > div { scroll-margin-top: 3rem; }
summary { cursor: pointer; font-weight: 600; padding: .25rem 0; }
.failure { background: var(--card); border: 1px solid var(--line); border-left: .25rem solid var(--fail-bar); border-radius: .4rem; padding: .75rem 1rem; margin: .6rem 0; break-inside: avoid; }
.failure h3 { font-family: ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace; font-size: .9rem; }
.values { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; margin: .5rem 0; }
.values div { min-width: 0; } .values dt { font-size: .8rem; } .values dd { overflow-wrap: anywhere; }
dl.values { grid-template-columns: none; }
pre { background: var(--code); border-radius: .4rem; padding: .6rem .75rem; margin: .5rem 0; font-size: .85rem; white-space: pre-wrap; overflow-wrap: anywhere; }
ul { padding-left: 1.25rem; margin: .5rem 0; }
footer { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: .75rem; }
@media (max-width: 40rem) {
  body { padding: 1.25rem .9rem 2rem; }
  .matrix thead { display: none; }
  .matrix, .matrix tbody, .matrix tfoot, .matrix tr, .matrix th, .matrix td { display: block; }
  .matrix tr { border-top: 1px solid var(--line); padding: .6rem .75rem; }
  .matrix tr:first-child { border-top: 0; } .matrix tfoot tr { border-top: 2px solid var(--line) !important; }
  .matrix th, .matrix td, .matrix tfoot th, .matrix tfoot td { border: 0; padding: .15rem 0; }
  .matrix td { display: grid; grid-template-columns: minmax(5.5rem, max-content) 1fr; gap: .75rem; align-items: start; }
  dl.values { display: grid; grid-template-columns: max-content 1fr; } .values div { display: contents; }
  .matrix td::before { content: attr(data-backend); color: var(--soft); font-weight: 400; }
}
@media print {
  :root { color-scheme: light; --page: #fff; --card: #fff; --text: #000; --soft: #444; --line: #bbb; --code: #f2f2f2;
    --pass: #17683a; --pass-fill: #dff3e6; --fail: #a4161a; --fail-fill: #fde5e5; --none: #6b4e00; --none-fill: #fbf0d0; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  .card, tr { break-inside: avoid; }
  h2 { break-after: avoid; }
  details::details-content { content-visibility: visible; height: auto; }
}
`;

/** The part of the style sheet that is for plots. A backend has one colour on the whole page, beside its name. */
export const BENCH_STYLES = `
:root {
  --b0: #1f6fb5; --b1: #c8590a; --b2: #22844e; --b3: #8a4bb0; --b4: #9a6a00; --b5: #b23a6b;
}
@media (prefers-color-scheme: dark) {
  :root { --b0: #64b0f0; --b1: #f59a52; --b2: #5fce91; --b3: #c898ea; --b4: #e0b850; --b5: #f08fb5; }
}
.b0 { --series: var(--b0); } .b1 { --series: var(--b1); } .b2 { --series: var(--b2); }
.b3 { --series: var(--b3); } .b4 { --series: var(--b4); } .b5 { --series: var(--b5); }
.key { display: inline-block; width: .8em; height: .8em; border-radius: .2em; background: var(--series); margin-right: .4em; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.op { margin: 0 0 1rem; break-inside: avoid-page; }
.op h3 { display: flex; flex-wrap: wrap; gap: .1rem .6rem; align-items: baseline; margin-bottom: .6rem; }
.op h3 .soft { font-weight: 400; font-size: .875rem; }
.case { padding: .45rem 0; border-top: 1px solid var(--line); break-inside: avoid; }
.case:first-of-type { border-top: 0; }
.case h4 { font-size: .94rem; font-weight: 500; margin: 0 0 .15rem; overflow-wrap: anywhere; }
.case h4 .soft { font-weight: 400; }
.result { display: grid; grid-template-columns: 7rem minmax(0, 1fr) 17rem; gap: 0 .75rem; align-items: center; font-size: .94rem; line-height: 1.6; }
.result > .name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.result.single { grid-template-columns: minmax(0, 1fr) 13rem; }
.result > .value { font-variant-numeric: tabular-nums; display: grid; grid-template-columns: 4.2rem 8.6rem 1fr; gap: .25rem; white-space: nowrap; }
.result > .value b, .result > .value span { text-align: right; }
.result > .trouble { grid-column: 2 / -1; overflow-wrap: anywhere; }
.result.single > .trouble { grid-column: 1 / -1; }
.track { position: relative; height: .85rem; background: var(--code); border-radius: .2rem; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.track > * { position: absolute; left: 0; }
.track .fill { top: 0; bottom: 0; min-width: 2px; background: var(--series); border-radius: .2rem; }
.track .spread { top: 25%; bottom: 25%; border: solid var(--text); border-width: 0 1px; background: linear-gradient(var(--text), var(--text)) center / 100% 1px no-repeat, linear-gradient(var(--card), var(--card)) center / 100% 3px no-repeat; opacity: .8; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); gap: 1rem; }
.plots figure { margin: 0; max-width: 38rem; }
.plots svg { display: block; width: 100%; height: auto; margin-top: .5rem; }
.plots text { fill: var(--text); font-size: 12px; } .plots .tick text { fill: var(--soft); }
.plots .tick line { stroke: var(--line); } .plots .frame { fill: none; stroke: var(--line); }
.plots .roof { fill: none; stroke: var(--series); stroke-width: 2; stroke-linejoin: round; }
.plots .mark { fill: var(--series); fill-opacity: .8; stroke: var(--card); stroke-width: 1; }
.plots .label { paint-order: stroke; stroke: var(--card); stroke-width: 4px; stroke-linejoin: round; font-weight: 600; }
.legend { display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; margin: .5rem 0; font-size: .94rem; }
.legend svg { width: 1rem; height: 1rem; vertical-align: -.15rem; margin-right: .35rem; fill: var(--soft); }
.scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: .6rem; background: var(--card); }
.numbers { border-collapse: collapse; width: 100%; font-size: .875rem; }
.numbers th, .numbers td { text-align: right; padding: .3rem .65rem; border-top: 1px solid var(--line); white-space: nowrap; font-variant-numeric: tabular-nums; }
.numbers thead th { border-top: 0; background: var(--code); }
.numbers th:first-child, .numbers th:nth-child(2), .numbers td:nth-child(2), .numbers td.words { text-align: left; }
.numbers td.words { white-space: normal; min-width: 16rem; }
.numbers th { font-weight: 500; } .numbers thead th { font-weight: 600; }
@media (max-width: 44rem) {
  .plots text { font-size: 14.5px; }
  .result { grid-template-columns: minmax(0, 1fr) max-content; padding-bottom: .25rem; }
  .result > .track { grid-column: 1 / -1; grid-row: 2; height: .6rem; }
  .result > .trouble { grid-column: 1 / -1; }
  .result.single { grid-template-columns: minmax(0, 1fr); }
  .result > .value { display: flex; gap: .6rem; }
  .result.single > .value { justify-content: flex-end; }
}
`;
