import { useEffect, useRef } from 'preact/hooks'
import { address, go } from './data/address.ts'
import { marks, moment, source } from './data/state.ts'
import type { Mark, MarkKind } from '../reading/marks.ts'
import { step } from './keys.ts'

const colours: Readonly<Record<MarkKind, string>> = {
  message: '--state-user',
  model: '--state-model',
  session: '--state-sessions',
  approval: '--state-approval',
  compaction: '--state-compaction',
  failure: '--state-failed',
  crash: '--state-failed',
  fault: '--state-failed',
  law: '--state-failed',
}
/** Drawn in this order: what matters most lies on top. */
const order = Object.keys(colours) as MarkKind[]

/** All ticks of the world, with marks, and where the page is. */
export function Scrubber() {
  const canvas = useRef<HTMLCanvasElement>(null)
  const shown = moment.value
  const newest = shown?.newest ?? 0
  const tick = shown?.tick ?? 0
  const all = withFacts(marks.value)
  useEffect(() => {
    const element = canvas.current
    if (element === null) return undefined
    const paint = () => draw(element, all, newest)
    const watch = new ResizeObserver(paint)
    watch.observe(element)
    const look = new MutationObserver(paint)
    look.observe(document.documentElement, { attributes: true })
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    scheme.addEventListener('change', paint)
    paint()
    return () => {
      watch.disconnect()
      look.disconnect()
      scheme.removeEventListener('change', paint)
    }
  }, [all, newest])
  const goTo = ({ clientX, currentTarget }: PointerEvent) => {
    const { left, width } = (currentTarget as HTMLElement).getBoundingClientRect()
    go({ tick: Math.round(Math.max(0, Math.min(1, (clientX - left) / width)) * newest) })
  }
  return (
    <div
      class="scrubber"
      role="slider"
      tabIndex={0}
      aria-label="Tick"
      aria-valuemin={0}
      aria-valuemax={newest}
      aria-valuenow={tick}
      aria-valuetext={`Tick ${tick} of ${newest}`}
      onPointerDown={(event) => {
        ;(event.currentTarget as HTMLElement).setPointerCapture(event.pointerId)
        goTo(event)
      }}
      onPointerMove={(event) => event.buttons > 0 && goTo(event)}
      onKeyDown={(event) => {
        if (event.key === 'Home') go({ tick: 0 })
        else if (event.key === 'End') go({ tick: source.value?.kind === 'run' ? newest : 'live' })
        else if (event.key === 'PageUp') step(-100)
        else if (event.key === 'PageDown') step(100)
        else return
        event.preventDefault()
      }}
    >
      <canvas ref={canvas} aria-hidden="true" />
      <i
        class="handle"
        style={{ left: `${newest === 0 ? 0 : (tick / newest) * 100}%` }}
        data-live={address.value.tick === 'live'}
      />
    </div>
  )
}

let known: readonly Mark[] = []
let joined: readonly Mark[] = []
/** With faults and the law that broke, of a simulated run. The same list for the same marks. */
function withFacts(read: readonly Mark[]): readonly Mark[] {
  if (read === known) return joined
  const { run } = source.value ?? {}
  const faults = (run?.faults ?? []).flatMap(({ name, tick, world }): Mark[] =>
    tick === undefined || world !== address.value.world ? [] : [{ tick, kind: 'fault', text: name }],
  )
  const { violation } = run ?? {}
  const law: Mark[] = violation === undefined ? [] : [{ tick: violation.tick, kind: 'law', text: violation.law }]
  known = read
  return (joined = [...read, ...faults, ...law])
}

function draw(element: HTMLCanvasElement, all: readonly Mark[], newest: number): void {
  const { clientHeight: height, clientWidth: width } = element
  const scale = devicePixelRatio
  element.width = width * scale
  element.height = height * scale
  const context = element.getContext('2d')
  if (context === null || newest === 0) return
  context.scale(scale, scale)
  const style = getComputedStyle(document.documentElement)
  const colourOf = new Map(order.map((kind) => [kind, style.getPropertyValue(colours[kind])]))
  const markWidth = Math.max(1.5, Math.min(4, (width / newest) * 0.6))
  for (const kind of order) {
    context.fillStyle = colourOf.get(kind) ?? 'gray'
    const isTall = order.indexOf(kind) >= order.indexOf('approval')
    const painted = new Set<number>()
    for (const { kind: its, tick } of all) {
      if (its !== kind) continue
      const x = Math.round((tick / newest) * (width - markWidth) * 2) / 2
      if (painted.has(x)) continue
      painted.add(x)
      const tall = isTall ? height - 8 : kind === 'model' ? 7 : 11
      context.beginPath()
      context.roundRect(x, height - 4 - tall, markWidth, tall, markWidth / 2)
      context.fill()
    }
  }
}
