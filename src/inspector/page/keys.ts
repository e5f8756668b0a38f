import { address, go } from './data/address.ts'
import { moment } from './data/state.ts'
import { togglePlay } from './data/play.ts'
import { views } from './views/index.ts'

/** Keys that count everywhere but where a person writes. */
export function keyPressed(event: KeyboardEvent): void {
  const { target } = event
  const isWriting =
    target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null
  if (isWriting || event.ctrlKey || event.metaKey || event.altKey) return
  const view = views.find(({ key }) => key === event.key)
  if (view !== undefined) go({ view: view.id, q: undefined })
  else if (event.key === 'ArrowLeft') step(event.shiftKey ? -100 : -1)
  else if (event.key === 'ArrowRight') step(event.shiftKey ? 100 : 1)
  else if (event.key === ' ' && !(target instanceof HTMLElement && target.closest('button, a, summary'))) togglePlay()
  else if (event.key === 'l') go({ tick: 'live' })
  else if (event.key === '/') document.querySelector<HTMLElement>('[data-search]')?.focus()
  else return
  event.preventDefault()
}

/** Goes on or back by ticks. */
export function step(ticks: number): void {
  const shown = moment.value
  if (shown === undefined) return
  const at = address.value.tick === 'live' ? shown.tick : address.value.tick
  go({ tick: Math.max(0, Math.min(shown.newest, at + ticks)) })
}
