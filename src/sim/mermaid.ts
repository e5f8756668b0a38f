import { cutText } from '../base/cut-text.ts'
import { type Actor, users, type SequenceStep, sequenceSteps } from './sequence-steps.ts'
import type { TraceEntry } from './trace-entry.ts'

/** A longer chart shows only its beginning and its end. */
const maxSteps = 300
const stepsAtEnd = 100
const maxTextChars = 60

const arrows = { asks: '->>', answers: '-->>', fails: '--x' } as const
const titles = { user: '', agent: '', model: 'model ', tool: 'tool ' } as const

export function mermaidChart(entries: readonly TraceEntry[]): string {
  const all = sequenceSteps(entries)
  const isCut = all.length > maxSteps
  const steps = isCut ? [...all.slice(0, maxSteps - stepsAtEnd), cutMark(all), ...all.slice(-stepsAtEnd)] : all
  const participants = participantsOf(steps)
  const ids = new Map(participants.map((actor, index) => [keyOf(actor), `p${index}`]))
  const declared = participants.map((actor) => {
    const word = actor.kind === 'user' ? 'actor' : 'participant'
    return `${word} ${ids.get(keyOf(actor))} as ${escaped(titles[actor.kind] + actor.name)}`
  })
  const lines = [...declared, ...steps.map((step) => lineOf(step, ids))]
  return ['sequenceDiagram', ...lines.map((line) => `  ${line}`)].join('\n')
}

function cutMark(all: readonly SequenceStep[]): SequenceStep {
  return { kind: 'note', over: undefined, text: `${all.length - maxSteps} lines are left out here` }
}

function participantsOf(steps: readonly SequenceStep[]): Actor[] {
  const found = new Map<string, Actor>()
  for (const step of steps) {
    for (const actor of step.kind === 'note' ? [step.over] : [step.from, step.to]) {
      if (actor !== undefined) found.set(keyOf(actor), actor)
    }
  }
  // A note needs an actor.
  if (found.size === 0) return [users]
  return (['user', 'agent', 'model', 'tool'] as const).flatMap((kind) =>
    [...found.values()].filter((actor) => actor.kind === kind),
  )
}

function lineOf(step: SequenceStep, ids: ReadonlyMap<string, string>): string {
  const text = escaped(step.text)
  if (step.kind !== 'note') {
    const { kind, from, to } = step
    return `${ids.get(keyOf(from))}${arrows[kind]}${ids.get(keyOf(to))}: ${text}`
  }
  if (step.over !== undefined) return `Note over ${ids.get(keyOf(step.over))}: ${text}`
  const [first, ...rest] = ids.values()
  return `Note over ${[first, ...rest.slice(-1)].join(',')}: ${text}`
}

function keyOf({ kind, name }: Actor): string {
  return `${kind} ${name}`
}

function escaped(text: string): string {
  const short = text.length > maxTextChars ? `${cutText(text, maxTextChars)}…` : text
  // oxlint-disable-next-line no-control-regex
  const line = short.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').trim()
  return line.replaceAll(/[#;%<>&"`\\]/g, (character) => `#${character.charCodeAt(0)};`) || '#160;'
}
