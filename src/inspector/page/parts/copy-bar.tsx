import { useState } from 'preact/hooks'
import { inFlight, isLeftBehind } from '../../reading/left-behind.ts'
import type { CopyQuestion } from '../../reading/wire.ts'
import { address, go } from '../data/address.ts'
import { moment, source, worlds } from '../data/state.ts'
import { Badge } from './badge.tsx'
import { Comparison } from './comparison.tsx'
import { act, refused } from './do-action.ts'
import { JsonTree } from './json-tree.tsx'

/** What is to be known above the view: that this is a copy, what it asks, and why an action was refused. */
export function CopyBar() {
  const [compared, setCompared] = useState<string | undefined>(undefined)
  const { world } = address.value
  const entry = worlds.value.get(world ?? '')
  // A world below a copy is asked about there.
  const copy = entry?.copyOf === undefined ? worlds.value.get(entry?.root ?? '') : entry
  const { asks = [], copyOf, stopped } = copy ?? {}
  const { value: problem } = refused
  return (
    <>
      <LeftBehind />
      {problem !== undefined && (
        <div class="above is-problem" role="alert">
          <span>{problem.message}</span>
          <span class="space" />
          <button type="button" class="link" onClick={() => (refused.value = undefined)}>
            Close
          </button>
        </div>
      )}
      {copyOf !== undefined && (
        <div class="above" role="status">
          <span>
            A copy of{' '}
            <button
              type="button"
              class="link"
              onClick={() => go({ world: copyOf.world, tick: copyOf.tick, entity: undefined })}
            >
              {copyOf.world} at tick {copyOf.tick}
            </button>
            {stopped !== undefined && <span class="muted"> · {stopped}</span>}
          </span>
          <span class="space" />
          {entry?.copyOf !== undefined && (
            <button
              type="button"
              class="button"
              aria-expanded={compared === world}
              onClick={() => setCompared(compared === world ? undefined : world)}
            >
              Compare with the original
            </button>
          )}
        </div>
      )}
      {copyOf !== undefined && compared !== undefined && compared === world && (
        <Comparison one={{ world: copyOf.world }} other={{ world: compared }} from={copyOf.tick} />
      )}
      {asks.map((question) => (
        <Question key={question.id} question={question} />
      ))}
    </>
  )
}

const maxNamed = 8

/** The newest tick of a world whose program has ended in the midst of its work. */
function LeftBehind() {
  const shown = moment.value
  const entry = worlds.value.get(shown?.world.name ?? '')
  const kind = source.value?.kind
  if (shown === undefined || entry === undefined || kind === undefined || shown.tick !== shown.newest) return null
  if (!isLeftBehind(entry, worlds.value.get(entry.root ?? ''), kind)) return null
  const open = inFlight(shown.world)
  const more = open.length > maxNamed ? ` and ${open.length - maxNamed} more` : ''
  return (
    <div class="above" role="status">
      <span>
        <Badge state="unknown" /> The program that drove this world has ended. Tick {shown.tick} is the last that it
        committed
        {open.length === 0
          ? '.'
          : `; whether this has happened is unknown: ${open.slice(0, maxNamed).join(', ')}${more}.`}
      </span>
    </div>
  )
}

/** Tools do not simply run in a copy: a person says what one gives. */
function Question({ question }: { readonly question: CopyQuestion }) {
  const { arguments: input, canRun, id, tool, world } = question
  const [text, setText] = useState('')
  const reply = (how: 'run' | 'give' | 'refuse') =>
    void act({ do: 'reply', world, question: id, how, ...(text !== '' && { text }) })
  return (
    <form
      class="above asked"
      aria-label={`The copy asks about ${tool}`}
      onSubmit={(event) => {
        event.preventDefault()
        reply('give')
      }}
    >
      <div>
        <strong>{tool}</strong>{' '}
        <span class="muted">was never called like this. Tools do not simply run in a copy.</span>
        <JsonTree value={input} open={2} />
      </div>
      <div class="reply">
        <input
          aria-label="What it gives"
          placeholder="What it gives, or why it is refused"
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        <button type="submit" class="button is-main" disabled={text === ''}>
          Give this
        </button>
        {canRun && (
          <button type="button" class="button" onClick={() => reply('run')}>
            Run it
          </button>
        )}
        <button type="button" class="button" onClick={() => reply('refuse')}>
          Refuse
        </button>
      </div>
    </form>
  )
}
