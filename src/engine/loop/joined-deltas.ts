import type { ModelDelta } from '../../models/port.ts'

/** Adds a piece of a reply to those before it: text joins the text right before it. */
export function joinDelta(deltas: ModelDelta[], delta: ModelDelta): void {
  const last = deltas.at(-1)
  if (last === undefined || last.type === 'tool-call' || !isSame(last, delta)) return void deltas.push(delta)
  deltas[deltas.length - 1] = { ...last, text: last.text + delta.text }
}

type TextDelta = Exclude<ModelDelta, { readonly type: 'tool-call' }>

function isSame(last: TextDelta, delta: ModelDelta): delta is TextDelta {
  if (last.type === 'tool-arguments') return delta.type === last.type && delta.id === last.id
  return delta.type === last.type
}
