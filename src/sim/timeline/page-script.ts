/** The page's script: draws the data, shows facts, zooms, filters. It runs in the browser, so it is text here. */
export const pageScript = String.raw`
'use strict'
const run = JSON.parse(document.getElementById('run').textContent)
const byId = (id) => document.getElementById(id)
const make = (tag, className, text) => {
  const element = document.createElement(tag)
  if (className) element.className = className
  if (text !== undefined) element.textContent = text
  return element
}
const laneHeight = 19
const rowPadding = 6
const eventsAtOnce = 300

function timeText(ms) {
  if (ms < 1000) return Math.round(ms) + ' ms'
  if (ms < 60000) return (ms / 1000).toFixed(ms < 10000 ? 2 : 1) + ' s'
  const minutes = Math.floor(ms / 60000)
  if (minutes < 60) return minutes + ' min ' + Math.floor((ms % 60000) / 1000) + ' s'
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? hours + ' h ' + (minutes % 60) + ' min' : Math.floor(hours / 24) + ' d ' + (hours % 24) + ' h'
}

// Where a time lies, from 0 to 1. Even: pauses that are much longer than most are drawn shorter.
const instants = [...new Set([0, run.endMs, ...run.spans.flatMap((span) => [span.fromMs, span.toMs]), ...run.marks.map((mark) => mark.atMs)])].sort((a, b) => a - b)
const gaps = instants.slice(1).map((at, index) => at - instants[index])
const sortedGaps = [...gaps].sort((a, b) => a - b)
const usualGap = sortedGaps[Math.floor(sortedGaps.length / 2)] || 1
const hasPauses = (sortedGaps.at(-1) || 0) > usualGap * 15
const places = new Map()
{
  let sum = 0
  places.set(0, 0)
  gaps.forEach((gap, index) => {
    sum += gap <= usualGap ? Math.max(gap, usualGap * 0.25) : usualGap * (1 + Math.log2(gap / usualGap))
    places.set(instants[index + 1], sum)
  })
  for (const [at, place] of places) places.set(at, sum === 0 ? 0 : place / sum)
}
let isEven = hasPauses
let zoom = innerWidth <= 700 ? 2 : 1
const place = (at) => (isEven ? places.get(at) : run.endMs === 0 ? 0 : at / run.endMs)
const percent = (share) => (share * 100).toFixed(4) + '%'

const chart = byId('chart')
const card = byId('card')
let items = []
let current
let shownItem

function draw() {
  hide()
  const grid = make('div', 'grid')
  grid.style.width = zoom * 100 + '%'
  items = []
  const axis = make('div', 'axis')
  axis.append(make('div', 'name', 'World time'))
  const axisLane = make('div', 'lane')
  axis.append(axisLane)
  grid.append(axis)
  const lanes = run.rows.map((row) => drawRow(grid, row))
  const ticks = drawTicks(axisLane)
  for (const lane of lanes) for (const tick of ticks) lane.append(at(make('div', 'rule'), tick))
  run.spans.forEach((span) => drawSpan(lanes[span.row], span))
  for (const mark of run.marks) drawMark(mark, lanes, axisLane)
  chart.replaceChildren(grid)
  items.sort((a, b) => a.row - b.row || a.at - b.at)
  setCurrent(items.find((item) => item.kind === 'law') || items[0], false)
}

function drawRow(grid, row) {
  const line = make('div', 'row')
  const name = make('div', 'name')
  name.style.setProperty('--depth', row.depth)
  name.append(make('b', '', row.name))
  const about = [row.status, row.note].filter(Boolean).join(' · ')
  if (about) name.append(make('small', '', about))
  name.title = [row.name, about].filter(Boolean).join(' – ')
  const lane = make('div', 'lane')
  lane.style.minHeight = Math.max(about ? 42 : 26, row.lanes * laneHeight + 2 * rowPadding) + 'px'
  line.append(name, lane)
  grid.append(line)
  return lane
}

function laneWidth() {
  return Math.max(120, chart.clientWidth * zoom - (innerWidth <= 700 ? 132 : 248))
}

function drawTicks(lane) {
  const count = Math.min(60, Math.max(2, Math.floor(laneWidth() / 105)))
  const wanted = []
  if (isEven) {
    let last = -1
    for (const instant of instants) {
      const here = place(instant)
      if (here - last >= 1 / count || last < 0) {
        wanted.push(instant)
        last = here
      }
    }
  } else {
    const raw = run.endMs / count
    const power = 10 ** Math.floor(Math.log10(Math.max(1, raw)))
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= raw) || 1
    for (let time = 0; time <= run.endMs; time += step) wanted.push(time)
  }
  return wanted.map((time) => {
    const share = isEven ? place(time) : run.endMs === 0 ? 0 : time / run.endMs
    const side = share < 0.02 ? ' first' : share > 0.97 ? ' last' : ''
    lane.append(at(make('span', 'tick' + side, timeText(time)), share))
    return share
  })
}

function at(element, share) {
  element.style.left = percent(share)
  return element
}

function drawSpan(lane, span) {
  const from = place(span.fromMs)
  const to = place(span.toMs)
  const isWide = (to - from) * laneWidth() > 44
  const element = make('button', 'span ' + span.kind + ' ' + span.state, isWide ? span.title : '')
  element.style.left = percent(from)
  element.style.width = percent(to - from)
  if (span.kind !== 'turn' && span.kind !== 'waiting') element.style.top = rowPadding + span.lane * laneHeight + 'px'
  const length = span.toMs === span.fromMs ? 'at once' : 'for ' + timeText(span.toMs - span.fromMs)
  const ends = { well: '', failed: 'failed', cancelled: 'was cancelled', lost: 'lost in a crash', open: 'never ended' }[span.state]
  const when = timeText(span.fromMs) + ', ' + length + (ends ? ', ' + ends : '')
  addItem(lane, element, { row: span.row, at: span.fromMs, kind: span.kind, title: span.title, when, facts: span.facts })
}

function drawMark(mark, lanes, axisLane) {
  const sign = { fault: '▲', crash: '✖', user: '●', law: '◆' }[mark.kind]
  const share = place(mark.atMs)
  const element = at(make('button', 'mark ' + mark.kind, sign), share)
  const isForAll = mark.row === undefined
  if (isForAll || mark.kind === 'law') {
    for (const lane of lanes) lane.append(at(make('div', 'fall' + (mark.kind === 'law' ? ' law-line' : '')), share))
  }
  const row = isForAll ? -1 : mark.row
  addItem(isForAll ? axisLane : lanes[row], element, { row, at: mark.atMs, kind: mark.kind, title: mark.title, when: timeText(mark.atMs), facts: mark.facts })
}

function addItem(lane, element, item) {
  element.type = 'button'
  element.tabIndex = -1
  const whose = item.row < 0 ? '' : run.rows[item.row].name + ': '
  element.setAttribute('aria-label', whose + item.title + ', ' + item.when + (item.facts.length ? '. ' + item.facts.join('. ') : ''))
  item.element = element
  item.order = items.length
  items.push(item)
  element.addEventListener('pointerenter', (event) => event.pointerType === 'mouse' && show(item))
  element.addEventListener('pointerleave', (event) => event.pointerType === 'mouse' && hide())
  element.addEventListener('focus', () => { setCurrent(item, false); show(item) })
  element.addEventListener('blur', hide)
  element.addEventListener('click', () => { element.focus(); show(item) })
  lane.append(element)
}

function setCurrent(item, isFocused) {
  if (item === undefined) return
  if (current) current.element.tabIndex = -1
  current = item
  item.element.tabIndex = 0
  if (!isFocused) return
  item.element.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  item.element.focus({ preventScroll: true })
}

function show(item) {
  const title = make('strong', '', item.title)
  const lines = [(item.row < 0 ? 'everywhere' : run.rows[item.row].name) + ' · ' + item.when, ...item.facts]
  card.replaceChildren(title, make('div', 'facts', lines.join('\n')))
  card.hidden = false
  for (const other of items) other.element.classList.toggle('on', other === item)
  shownItem = item
  placeCard()
}

// Beside what it is about, wherever that is scrolled to.
function placeCard() {
  if (shownItem === undefined) return
  const box = shownItem.element.getBoundingClientRect()
  const left = Math.min(Math.max(8, box.left), innerWidth - card.offsetWidth - 8)
  const isBelow = box.bottom + card.offsetHeight + 12 < innerHeight
  card.style.left = left + 'px'
  card.style.top = (isBelow ? box.bottom + 6 : Math.max(8, box.top - card.offsetHeight - 6)) + 'px'
}

function hide() {
  card.hidden = true
  shownItem = undefined
  for (const item of items) item.element.classList.remove('on')
}

chart.addEventListener('keydown', (event) => {
  if (current === undefined) return
  if (event.key === 'Escape') return hide()
  const rowItems = items.filter((item) => item.row === current.row)
  const here = rowItems.indexOf(current)
  const nearest = (direction) => {
    const rows = [...new Set(items.map((item) => item.row))]
    const next = rows[rows.indexOf(current.row) + direction]
    const inNext = items.filter((item) => item.row === next)
    return inNext.sort((a, b) => Math.abs(a.at - current.at) - Math.abs(b.at - current.at))[0]
  }
  const moves = {
    ArrowRight: () => rowItems[here + 1],
    ArrowLeft: () => rowItems[here - 1],
    ArrowDown: () => nearest(1),
    ArrowUp: () => nearest(-1),
    Home: () => rowItems[0],
    End: () => rowItems.at(-1),
  }
  const move = moves[event.key]
  if (move === undefined) return
  event.preventDefault()
  setCurrent(move(), true)
})
addEventListener('scroll', placeCard, { passive: true, capture: true })

function setZoom(next) {
  const middle = (chart.scrollLeft + chart.clientWidth / 2) / chart.scrollWidth
  zoom = Math.min(64, Math.max(1, next))
  draw()
  chart.scrollLeft = middle * chart.scrollWidth - chart.clientWidth / 2
}
byId('nearer').addEventListener('click', () => setZoom(zoom * 2))
byId('farther').addEventListener('click', () => setZoom(zoom / 2))
byId('fit').addEventListener('click', () => setZoom(1))
byId('even').addEventListener('click', () => {
  isEven = !isEven
  byId('even').setAttribute('aria-pressed', String(isEven))
  draw()
})
byId('even').setAttribute('aria-pressed', String(isEven))
addEventListener('resize', draw)

const list = byId('events')
const texts = run.events.map((event) => event.join(' ').toLowerCase())
let shown = eventsAtOnce
function drawEvents() {
  const words = byId('filter').value.toLowerCase().split(/\s+/).filter(Boolean)
  const found = run.events.filter((_, index) => words.every((word) => texts[index].includes(word)))
  list.replaceChildren(...found.slice(0, shown).map(drawEvent))
  byId('count').textContent = found.length === run.events.length ? found.length + ' events' : found.length + ' of ' + run.events.length + ' events'
  byId('more').hidden = found.length <= shown
}
function drawEvent([atMs, world, tick, type, facts]) {
  const isBad = type === 'law-broken' || type === 'crashed'
  const isHit = type === 'fault' || type === 'model-failed'
  const line = make('li', 'event' + (isBad ? ' bad' : isHit ? ' hit' : ''))
  const when = make('span', 'at', timeText(atMs))
  when.title = atMs + ' ms'
  line.append(when, make('span', 'world', world), make('span', 'in', tick === null ? '' : '#' + tick), make('span', 'what', type), make('span', 'with', facts))
  return line
}
byId('filter').addEventListener('input', () => { shown = eventsAtOnce; drawEvents() })
byId('more').addEventListener('click', () => { shown += eventsAtOnce; drawEvents() })

draw()
drawEvents()
`.trim()
