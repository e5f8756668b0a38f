import { misuse } from './describe-value.ts'
import type { SimulationResult } from './simulate.ts'
import { readTrace } from './timeline/read-trace.ts'
import type { Timeline } from './timeline/timeline.ts'
import { pageScript } from './timeline/page-script.ts'
import { pageStyle } from './timeline/page-style.ts'
import type { TraceEntry } from './trace-entry.ts'
import { cutText } from '../rules/text/cut-text.ts'

/** What a page shows at most; it says how much it leaves out. */
const maxEvents = 20_000
const maxSpans = 4_000
const maxRows = 300
const maxFactsChars = 2_000

type PagedRun = Pick<
  SimulationResult,
  'seed' | 'ok' | 'violation' | 'hash' | 'trace' | 'faults' | 'ticks' | 'crashes' | 'checks' | 'virtualMs'
>

/**
 * A self-contained HTML page that shows a run in world time: spans, faults and every event. @throws `invalid-argument`
 * where the trace keeps no lines
 */
export function timelinePage(result: PagedRun): string {
  const { seed, trace } = result
  if (trace.entries.length < trace.length) {
    const what = 'timelinePage() draws the lines of a trace that are kept; with onTrace none is'
    throw misuse(`${what}. Leave out onTrace.`)
  }
  const timeline = cut(readTrace(trace.entries, result.virtualMs))
  const name = trace.entries.find(({ label }) => label !== '-')?.label ?? 'A run'
  const data = { ...timeline, events: trace.entries.slice(0, maxEvents).map(eventOf) }
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>${escaped(`${name}, seed ${seed}: ${result.ok ? 'every law held' : 'a law was broken'}`)}</title>
<style>
${pageStyle}
</style>
</head>
<body>
<main>
${head(name, result)}
<h2>In world time</h2>
${toolbar}
<div class="chart" id="chart" role="group" aria-label="Timeline. Arrow keys go from one thing to the next, up and down between rows."></div>
<p class="cut">${escaped(leftOut(result, timeline))}</p>
<h2>Events</h2>
<div class="bar">
<input id="filter" type="search" placeholder="Filter: every word must occur" aria-label="Filter events">
<span id="count" role="status"></span>
</div>
<ol class="events" id="events"></ol>
<button class="more" id="more" type="button" hidden>Show more</button>
<noscript>The timeline and the events are drawn by a script in this page.</noscript>
</main>
<div id="card" role="tooltip" hidden></div>
<script type="application/json" id="run">${embedded(data)}</script>
<script>
${pageScript}
</script>
</body>
</html>
`
}

function head(name: string, result: PagedRun): string {
  const { seed, ok, violation, hash, faults, ticks, crashes, checks, virtualMs } = result
  const totals: Readonly<Record<string, string>> = {
    Ticks: grouped.format(ticks),
    'World time': durationText(virtualMs),
    Crashes: grouped.format(crashes),
    'Faults that struck': grouped.format(faults.length),
    'Laws checked': `${grouped.format(checks)} times`,
  }
  const cells = Object.entries(totals).map(([term, text]) => `<div><dt>${term}</dt><dd>${escaped(text)}</dd></div>`)
  const outcome = ok
    ? '<span class="badge well">Every law held</span>'
    : '<span class="badge bad">A law was broken</span>'
  const broken =
    violation === undefined
      ? ''
      : `<div class="broken" role="alert"><strong>${escaped(violation.law)}</strong>${violation.meaning === violation.law ? '' : `: ${escaped(violation.meaning)}`}
<p>${escaped(violation.message)}</p>
<p>In ${escaped(violation.world)}, tick ${violation.tick}, at ${escaped(durationText(violation.atMs))}</p></div>`
  const list = JSON.stringify(faults, null, 2)
  const struck =
    faults.length === 0
      ? ''
      : `<details><summary>The faults as a list: passed as <code>faults</code> with seed ${seed}, they make this run again</summary><pre tabindex="0">${escaped(list)}</pre></details>`
  return `<div class="head"><h1>${escaped(name)}</h1><span class="badge">seed ${seed}</span>${outcome}</div>
<dl class="totals">${cells.join('')}<div><dt>Hash of the root world</dt><dd class="hash">${escaped(hash)}</dd></div></dl>
${broken}
${struck}`
}

const legend: Readonly<Record<string, string>> = {
  model: 'model call',
  tool: 'tool call',
  queued: 'in line',
  retry: 'pause before another try',
  approval: 'question to a user',
  waiting: 'waits',
}

const toolbar = `<div class="bar"><ul class="legend">${Object.entries(legend)
  .map(([kind, text]) => `<li><span class="key span ${kind}" style="position:static;height:11px"></span>${text}</li>`)
  .join(
    '',
  )}<li><span class="mark fault" style="position:static;margin:0">▲</span>fault</li><li><span class="mark crash" style="position:static;margin:0">✖</span>crash</li><li><span class="mark user" style="position:static;margin:0">●</span>user</li><li><span class="mark law" style="position:static;margin:0">◆</span>law broken</li></ul>
<div class="tools"><button id="even" type="button" aria-pressed="false">Shorten pauses</button><button id="farther" type="button" aria-label="Zoom out">−</button><button id="nearer" type="button" aria-label="Zoom in">+</button><button id="fit" type="button">Fit</button></div></div>`

function eventOf({ atMs, label, tick, type, facts }: TraceEntry): readonly (string | number | null)[] {
  const text = JSON.stringify(facts)
  return [atMs, label, tick ?? null, type, cutText(text, maxFactsChars, '…')]
}

function cut({ rows, spans, marks, endMs }: Timeline): Timeline {
  const isIn = ({ row }: { readonly row: number | undefined }): boolean => row === undefined || row < maxRows
  return {
    rows: rows.slice(0, maxRows),
    // Turns and waits lie behind all others.
    spans: spans
      .filter(isIn)
      .toSorted((one, other) => depth(one.kind) - depth(other.kind))
      .slice(0, maxSpans),
    marks: marks.filter(isIn).slice(0, maxSpans),
    endMs,
  }
}

function depth(kind: Timeline['spans'][number]['kind']): number {
  return kind === 'turn' ? 0 : kind === 'waiting' ? 1 : 2
}

function leftOut({ trace }: PagedRun, { spans, rows }: Timeline): string {
  const parts = [
    trace.entries.length > maxEvents ? `${trace.entries.length - maxEvents} events` : '',
    spans.length === maxSpans ? `bars past the first ${maxSpans}` : '',
    rows.length === maxRows ? `rows past the first ${maxRows}` : '',
  ].filter((part) => part !== '')
  return parts.length === 0 ? '' : `Left out: ${parts.join(', ')}.`
}

/** JSON that cannot end a script element. */
function embedded(data: unknown): string {
  return JSON.stringify(data)
    .replaceAll('<', String.raw`\u003c`)
    .replaceAll('\u2028', String.raw`\u2028`)
    .replaceAll('\u2029', String.raw`\u2029`)
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character)
}

const grouped = new Intl.NumberFormat('en')

function durationText(ms: number): string {
  if (ms < 1_000) return `${ms} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(2)} s`
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 60) return `${minutes} min ${Math.floor((ms % 60_000) / 1_000)} s`
  return `${grouped.format(Math.floor(minutes / 60))} h ${minutes % 60} min`
}
