export const pageStyle = `
:root {
  color-scheme: light dark;
  --ground: #fbfbfa; --raised: #ffffff; --line: #dedcd6; --text: #1f2328; --soft: #626a73;
  --stripe: #f4f3ef; --turn: #e9edf4; --focus: #0b57d0;
  --model: #4a63c8; --tool: #17897a; --queued: #9aa1ab; --retry: #c98a12; --approval: #8a4fbf;
  --bad: #c62f2f; --bad-ground: #fdecec; --good: #1a7f44; --good-ground: #e6f5ec; --fault: #c05a00;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14171b; --raised: #1c2026; --line: #343a43; --text: #e7e9ec; --soft: #9aa4b0;
    --stripe: #191d22; --turn: #252c37; --focus: #8ab4ff;
    --model: #7f95f5; --tool: #3fb8a5; --queued: #77808c; --retry: #e0aa3e; --approval: #b98ae6;
    --bad: #ff7a73; --bad-ground: #3a1f20; --good: #5ccf8a; --good-ground: #173325; --fault: #ffa04d;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 15px/1.45 system-ui, sans-serif; }
main { max-width: 1500px; margin: 0 auto; padding: 20px 24px 120px; }
h1 { font-size: 24px; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 16px; margin: 28px 0 8px; }
code, .hash, .facts, .event, pre { font-family: ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; }
.head { display: flex; flex-wrap: wrap; gap: 8px 14px; align-items: center; }
.badge { border-radius: 99px; padding: 2px 12px; border: 1px solid var(--line); background: var(--raised); }
.badge.well { color: var(--good); background: var(--good-ground); border-color: transparent; font-weight: 600; }
.badge.bad { color: var(--bad); background: var(--bad-ground); border-color: transparent; font-weight: 600; }
.totals { display: flex; flex-wrap: wrap; gap: 6px 28px; margin: 14px 0 0; }
.totals div { display: flex; flex-direction: column; }
dt { color: var(--soft); font-size: 12.5px; }
dd { margin: 0; font-variant-numeric: tabular-nums; }
.hash { font-size: 12.5px; overflow-wrap: anywhere; line-height: 21px; }
.broken { margin: 16px 0 0; padding: 12px 16px; border-left: 4px solid var(--bad); background: var(--bad-ground); border-radius: 4px; }
.broken p { margin: 4px 0 0; white-space: pre-wrap; overflow-wrap: anywhere; }
details { margin-top: 14px; }
summary { cursor: pointer; }
pre { background: var(--raised); border: 1px solid var(--line); border-radius: 6px; padding: 10px 12px; overflow-x: auto; font-size: 12.5px; margin: 8px 0 0; }
.bar { display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: center; margin: 0 0 8px; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 14px; color: var(--soft); font-size: 13px; list-style: none; margin: 0; padding: 0; flex: 1 1 320px; }
.legend li { display: inline-flex; align-items: center; gap: 6px; white-space: nowrap; }
.key { width: 18px; height: 11px; border-radius: 3px; display: inline-block; }
button, input { font: inherit; color: inherit; }
.tools { display: flex; gap: 6px; flex-wrap: wrap; }
.tools button, .more { background: var(--raised); border: 1px solid var(--line); border-radius: 6px; padding: 3px 11px; cursor: pointer; min-height: 32px; }
.tools button:hover, .more:hover { border-color: var(--soft); }
.tools button[aria-pressed='true'] { background: var(--turn); border-color: var(--soft); }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 1px; }
.chart { scroll-padding: 48px 24px 8px 232px; border: 1px solid var(--line); border-radius: 8px; background: var(--raised); overflow: auto; max-height: 74vh; position: relative; }
.grid { --names: 220px; --depth: 0; position: relative; min-width: 100%; }
.row, .axis { display: flex; }
.row:nth-child(odd) { background: var(--stripe); }
.name { flex: 0 0 var(--names); width: var(--names); position: sticky; left: 0; z-index: 3; background: var(--raised); border-right: 1px solid var(--line); padding: 4px 10px 4px calc(10px + var(--depth) * 16px); overflow: hidden; }
.row:nth-child(odd) .name { background: var(--stripe); }
.name b { font-weight: 600; font-size: 14px; white-space: nowrap; text-overflow: ellipsis; overflow: hidden; display: block; line-height: 18px; }
.name small { color: var(--soft); display: block; white-space: nowrap; text-overflow: ellipsis; overflow: hidden; font-size: 12px; line-height: 15px; }
.lane { flex: 1 1 auto; position: relative; margin: 0 14px; }
.axis { position: sticky; top: 0; z-index: 4; background: var(--raised); border-bottom: 1px solid var(--line); height: 42px; }
.axis .name { color: var(--soft); font-size: 12.5px; padding-top: 7px; }
.tick { position: absolute; top: 7px; transform: translateX(-50%); font-size: 12px; color: var(--soft); font-variant-numeric: tabular-nums; white-space: nowrap; }
.tick.first { transform: none; } .tick.last { transform: translateX(-100%); }
.rule { position: absolute; top: 0; bottom: 0; width: 1px; background: var(--line); opacity: .55; }
.span { position: absolute; height: 16px; min-width: 4px; padding: 0 4px; border: 0; border-radius: 3px; color: #fff; font-size: 11px; line-height: 16px; text-align: left; white-space: nowrap; overflow: hidden; cursor: pointer; background: var(--own); }
@media (prefers-color-scheme: dark) { .span { color: #101318; } }
.model { --own: var(--model); } .tool { --own: var(--tool); } .approval { --own: var(--approval); }
.queued { --own: var(--queued); background: transparent; border: 1px dashed var(--queued); color: var(--soft); line-height: 14px; }
.retry { --own: var(--retry); background: repeating-linear-gradient(135deg, var(--retry) 0 3px, transparent 3px 7px); color: transparent; }
.turn, .waiting { top: 3px; bottom: 3px; height: auto; border-radius: 4px; color: transparent; }
.turn { background: var(--turn); }
.waiting { background: repeating-linear-gradient(90deg, transparent 0 5px, var(--line) 5px 7px); background-size: auto 3px; background-repeat: repeat-x; background-position: 0 50%; }
.span.failed { box-shadow: inset 0 -4px 0 var(--bad); }
.span.turn.failed { box-shadow: inset 0 0 0 1px var(--bad); }
.span.lost, .span.cancelled, .span.open { background-image: repeating-linear-gradient(135deg, transparent 0 4px, var(--raised) 4px 6px); }
.span.turn.lost, .span.turn.cancelled, .span.turn.open { background-image: none; }
.span.on { outline: 2px solid var(--focus); outline-offset: 1px; z-index: 2; }
.mark { position: absolute; width: 18px; height: 18px; margin-left: -9px; padding: 0; border: 0; background: none; cursor: pointer; font-size: 13px; line-height: 18px; text-align: center; z-index: 2; top: 1px; }
.mark.fault { color: var(--fault); } .mark.user { color: var(--approval); } .mark.law, .mark.crash { color: var(--bad); font-weight: 700; }
.row .mark { text-shadow: 0 0 2px var(--raised), 0 0 2px var(--raised), 0 0 3px var(--raised); }
.axis .mark { top: 24px; font-size: 13px; }
.fall { position: absolute; top: 0; bottom: 0; width: 0; border-left: 2px dashed var(--bad); opacity: .6; }
.law-line { border-left: 2px solid var(--bad); opacity: .9; }
#card { position: fixed; z-index: 9; max-width: 420px; background: var(--raised); border: 1px solid var(--line); border-radius: 8px; padding: 8px 12px; box-shadow: 0 6px 24px rgb(0 0 0 / .22); pointer-events: none; }
#card strong { display: block; overflow-wrap: anywhere; }
#card .facts { font-size: 12px; color: var(--soft); overflow-wrap: anywhere; white-space: pre-wrap; max-height: 40vh; overflow: hidden; }
#filter { width: min(420px, 100%); padding: 6px 10px; border: 1px solid var(--line); border-radius: 6px; background: var(--raised); min-height: 36px; }
#count { color: var(--soft); }
.events { border: 1px solid var(--line); border-radius: 8px; background: var(--raised); overflow: hidden; margin: 0; padding: 0; list-style: none; }
.event { display: grid; grid-template-columns: 92px minmax(90px, 170px) 46px 178px 1fr; gap: 0 12px; padding: 3px 12px; font-size: 12.5px; border-top: 1px solid var(--line); }
.event:first-child { border-top: 0; }
.event > * { overflow-wrap: anywhere; }
.event .at, .event .in { text-align: right; font-variant-numeric: tabular-nums; color: var(--soft); }
.event .with { color: var(--soft); }
.event.bad .what { color: var(--bad); font-weight: 600; } .event.hit .what { color: var(--fault); font-weight: 600; }
.more { margin-top: 10px; }
.cut { color: var(--soft); font-size: 13px; }
@media (max-width: 700px) {
  main { padding: 14px 12px 150px; }
  .grid { --names: 112px; }
  .chart { scroll-padding-left: 124px; }
  .name { padding-left: calc(6px + var(--depth) * 8px); padding-right: 4px; }
  .lane { margin: 0 10px; }
  #card { left: 8px !important; right: 8px; top: auto !important; bottom: 8px; max-width: none; }
  .event { grid-template-columns: 1fr auto; padding: 6px 10px; }
  .event .at { order: 2; } .event .what { order: 1; font-weight: 600; } .event .world { order: 3; color: var(--soft); } .event .in { order: 4; } .event .with { order: 5; grid-column: 1 / -1; }
}
`.trim()
