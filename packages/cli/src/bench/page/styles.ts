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
