import { useMemo, useState } from 'preact/hooks'
import type { Json } from '../../../base/json.ts'
import type { RawWorld } from '../../../world/raw-world.ts'
import { agentsOf } from '../../reading/raw-view.ts'
import type { ForkEdit } from '../../reading/wire.ts'
import { address, go } from '../data/address.ts'
import { type Moment, source } from '../data/state.ts'
import { Dialog } from './dialog.tsx'

type Driver = 'host' | 'recording' | 'none'

const drivers: Readonly<Record<Driver, { readonly title: string; readonly text: string }>> = {
  host: { title: 'The program’s models', text: 'Calls cost as always. Tools answer as recorded, or you are asked.' },
  recording: { title: 'The recorded answers', text: 'At no cost, up to the first request that was never made.' },
  none: { title: 'No one', text: 'The copy stands at this tick.' },
}

/** What of a world can be changed in its copy: a message of an agent, or any value. */
interface Place {
  readonly id: string
  readonly title: string
  readonly entity: number
  readonly component: string
  readonly index?: number | undefined
  readonly value: Json
}

const maxMessages = 200

/** Makes a copy of the world as of the tick that is shown, with a value changed if a person wants. */
export function CopyDialog({ onClose, shown }: { readonly shown: Moment; readonly onClose: () => void }) {
  // As it was when the dialog was opened, though the world may go on behind it.
  const { tick, world } = useMemo(() => shown, [])
  const places = useMemo(() => placesIn(world), [])
  const may = source.value?.can.drivers ?? []
  const [driver, setDriver] = useState<Driver>(may[0] ?? 'none')
  const [id, setId] = useState('')
  const [text, setText] = useState('')
  const place = places.find((one) => one.id === id)
  const wording = place === undefined ? undefined : textIn(place.value)
  const choose = (chosen: string) => {
    setId(chosen)
    const found = places.find((one) => one.id === chosen)
    setText(found === undefined ? '' : (textIn(found.value) ?? JSON.stringify(found.value, null, 2)))
  }
  const edit = place === undefined ? undefined : edited(place, text, wording !== undefined)
  const isWrong = place !== undefined && edit === undefined
  return (
    <Dialog
      title={`Fork from tick ${tick}`}
      action={{
        do: 'fork',
        world: world.name,
        tick,
        driver,
        ...(edit !== undefined && { edits: [edit] }),
      }}
      isWrong={isWrong}
      onClose={onClose}
      onDone={(name) => name !== undefined && go({ world: name, tick: 'live' })}
    >
      <p class="muted">
        {world.name} stays as it is. The copy gets a name of its own, and what was in flight and may have happened
        counts as interrupted in it.
      </p>
      <fieldset>
        <legend>Driven by</legend>
        {may.map((one) => (
          <label key={one} class="choice">
            <input type="radio" name="driver" checked={driver === one} onChange={() => setDriver(one)} />
            <span>
              {drivers[one].title}
              <small>{drivers[one].text}</small>
            </span>
          </label>
        ))}
      </fieldset>
      <label>
        Change first
        <select value={id} onChange={({ currentTarget }) => choose(currentTarget.value)}>
          <option value="">nothing</option>
          {places.map((one) => (
            <option key={one.id} value={one.id}>
              {one.title}
            </option>
          ))}
        </select>
      </label>
      {place !== undefined && (
        <label>
          {wording === undefined ? 'Its value, as JSON' : 'Its text'}
          <textarea
            rows={6}
            class={wording === undefined ? 'code' : ''}
            spellcheck={wording !== undefined}
            aria-invalid={isWrong}
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </label>
      )}
    </Dialog>
  )
}

/** Messages first, then the values of the entity that is shown. */
function placesIn(world: RawWorld): readonly Place[] {
  const places: Place[] = []
  for (const agent of agentsOf(world)) {
    const log = (world.value(agent, 'Conversation') ?? []) as readonly Json[]
    const first = Math.max(0, log.length - maxMessages)
    for (let index = log.length - 1; index >= first; index--) {
      const value = log[index] as Json
      const { role = '' } = value as { readonly role?: string }
      const title = `${role} message ${index} of #${agent}: ${(textIn(value) ?? '…').slice(0, 60)}`
      places.push({
        id: `${agent}/Conversation/${index}`,
        title,
        entity: agent,
        component: 'Conversation',
        index,
        value,
      })
    }
  }
  const { entity } = address.peek()
  const others = entity === undefined || agentsOf(world).includes(entity) ? [] : [entity]
  for (const one of [...agentsOf(world), ...others]) {
    for (const [component, value] of world.valuesOf(one)) {
      if (value === true || Array.isArray(value)) continue
      places.push({ id: `${one}/${component}`, title: `${component} of #${one}`, entity: one, component, value })
    }
  }
  return places
}

interface TextMessage {
  readonly content: readonly [{ readonly type: 'text'; readonly text: string }]
}

/** The words of a message that is one text; others are edited as JSON. */
function textIn(value: Json): string | undefined {
  const { content } = (value ?? {}) as Partial<TextMessage>
  if (!Array.isArray(content) || content.length !== 1) return undefined
  const [{ text, type }] = content as TextMessage['content']
  return type === 'text' ? text : undefined
}

/** `undefined`: it is no JSON. */
function edited({ component, entity, index, value }: Place, text: string, isText: boolean): ForkEdit | undefined {
  const at = { entity, component, ...(index !== undefined && { index }) }
  if (isText) return { ...at, value: { ...(value as object), content: [{ type: 'text', text }] } as Json }
  try {
    return { ...at, value: JSON.parse(text) as Json }
  } catch {
    return undefined
  }
}
