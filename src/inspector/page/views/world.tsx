import { useMemo } from 'preact/hooks'
import type { RawWorld } from '../../../world/raw-world.ts'
import { address, go } from '../data/address.ts'
import { parsedQuery } from '../data/query.ts'
import { type Moment, moment } from '../data/state.ts'
import { changesIn, type TickChanges } from '../data/tick-changes.ts'
import { numberText } from '../data/words.ts'
import { brief, JsonTree } from '../parts/json-tree.tsx'
import { Empty, Loading } from '../parts/notices.tsx'
import { Table } from '../parts/table.tsx'
import type { View } from './view.ts'

/** Entities and their components, as of a tick. */
export const world: View = {
  id: 'world',
  title: 'World',
  key: '6',
  icon: 'M2.5 2.5h4.5v4.5H2.5zM9 2.5h4.5v4.5H9zM2.5 9h4.5v4.5H2.5zM9 9h4.5v4.5H9z',
  component: World,
  isOfWorld: true,
}

function World() {
  const shown = moment.value
  const { entity, q = '' } = address.value
  const changes = useMemo(() => shown && changesAt(shown), [shown])
  const components = shown?.world.components ?? []
  const query = parsedQuery(q, new Set(components.map(({ name }) => name)))
  const entities = useMemo(
    () => (shown === undefined || query.problem !== undefined ? [] : shown.world.query(query.wanted, query.unwanted)),
    [shown, q],
  )
  if (shown === undefined) return <Loading what="Reading the world" />
  return (
    <section class="view world" aria-label="World">
      <div class="tools">
        <h1>World</h1>
        <span class="muted">
          {numberText(entities.length)} of {numberText(shown.world.size)} entities
        </span>
        <input
          data-search
          class="query"
          type="search"
          list="components"
          placeholder="Llm, Conversation, not(Paused)"
          aria-label="Query"
          aria-invalid={query.problem !== undefined}
          spellcheck={false}
          value={q}
          onInput={({ currentTarget }) => go({ q: currentTarget.value })}
        />
        <datalist id="components">
          {components.map(({ count, name }) => (
            <option key={name} value={name}>
              {count}
            </option>
          ))}
        </datalist>
        {query.problem !== undefined && <span class="bad">{query.problem}</span>}
      </div>
      <div class="halves" data-open={entity !== undefined}>
        <Table
          label="Entities"
          rows={entities}
          keyOf={String}
          selected={entity === undefined ? undefined : String(entity)}
          onSelect={(row) => go({ entity: row })}
          rowState={(row) =>
            changes?.spawned.has(row) === true ? 'new' : changes?.byEntity.has(row) === true ? 'changed' : undefined
          }
          columns={[
            { id: 'entity', title: '#', width: '64px', isNumber: true, cell: (row) => row },
            {
              id: 'components',
              title: 'Components',
              width: 'minmax(0, 1fr)',
              cell: (row) => <Components world={shown.world} entity={row} changes={changes} />,
            },
          ]}
          empty={
            <Empty title="No entity">
              {q === '' ? 'This world is empty at this tick.' : 'None has these components at this tick.'}
            </Empty>
          }
        />
        <aside class="side" aria-label="Details" tabIndex={0}>
          {entity === undefined ? (
            <Tick shown={shown} changes={changes} />
          ) : (
            <EntityCard shown={shown} entity={entity} changes={changes} />
          )}
        </aside>
      </div>
    </section>
  )
}

function changesAt({ past, tick }: Moment): TickChanges | undefined {
  const step = past.step(tick)
  return step && changesIn(step)
}

function Components(props: {
  readonly world: RawWorld
  readonly entity: number
  readonly changes: TickChanges | undefined
}) {
  const { changes, entity, world: of } = props
  const changed = changes?.byEntity.get(entity)
  return (
    <span class="chips">
      {of.valuesOf(entity).map(([name]) => (
        <span key={name} class="chip" data-change={changed?.get(name)}>
          {name}
        </span>
      ))}
    </span>
  )
}

function open(entity: number): void {
  go({ entity })
}

interface CardProps {
  readonly shown: Moment
  readonly entity: number
  readonly changes: TickChanges | undefined
}

function EntityCard({ changes, entity, shown }: CardProps) {
  const { world: of } = shown
  const changed = changes?.byEntity.get(entity)
  const from = of.allReferrers(entity)
  return (
    <article class="card">
      <header>
        <h2>Entity {entity}</h2>
        {changes?.spawned.has(entity) === true && (
          <span class="chip" data-change="set">
            new in this tick
          </span>
        )}
        <span class="space" />
        <button type="button" class="link" onClick={() => go({ entity: undefined })}>
          Show the tick
        </button>
      </header>
      {!of.has(entity) && <Empty title="It is not there at this tick">It was despawned, or is spawned later.</Empty>}
      {of.valuesOf(entity).map(([name, value]) => {
        const change = changed?.get(name)
        return (
          <section key={name} class="component" data-change={change}>
            <h3>
              {name}
              {change !== undefined && <small>{changeText(change, changes?.writers, name)}</small>}
            </h3>
            {value === true ? null : <JsonTree value={value} refField={of.refOf(name)} onEntity={open} />}
          </section>
        )
      })}
      {from.length > 0 && (
        <section class="component">
          <h3>Referred to by</h3>
          <ul class="refs">
            {from.slice(0, 200).map(([name, other]) => (
              <li key={`${name}/${other}`}>
                <button type="button" class="link" onClick={() => open(other)}>
                  #{other}
                </button>{' '}
                <span class="muted">{name}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </article>
  )
}

function changeText(change: string, writers: Readonly<Record<string, string>> | undefined, name: string): string {
  const by = writers === undefined ? 'writer unknown: the run was not recorded' : `by ${writers[name] ?? 'no system'}`
  return `${change} in this tick, ${by}`
}

/** What a tick took, did and emitted. */
function Tick({ changes, shown }: { readonly shown: Moment; readonly changes: TickChanges | undefined }) {
  const step = shown.past.step(shown.tick)
  if (step === undefined || changes === undefined) {
    return (
      <article class="card">
        <h2>Tick {shown.tick}</h2>
        <p class="muted">The world begins here: a snapshot holds it, and what was before is not kept.</p>
      </article>
    )
  }
  const { events, inputs } = step
  return (
    <article class="card">
      <h2>Tick {shown.tick}</h2>
      <p class="muted">
        {changes.byEntity.size === 1 ? 'one entity' : `${changes.byEntity.size} entities`} changed,{' '}
        {changes.spawned.size} new, {changes.despawned.length} gone
      </p>
      <h3>Inputs</h3>
      {inputs.length === 0 ? (
        <p class="muted">None</p>
      ) : (
        inputs.map((input, index) => <Named key={index} name={input.kind} value={input} />)
      )}
      <h3>Events</h3>
      {events.length === 0 ? (
        <p class="muted">None</p>
      ) : (
        events.map((event, index) => <Named key={index} name={event.type} value={event} />)
      )}
      <h3>Changes</h3>
      <ul class="refs">
        {[...changes.byEntity].slice(0, 200).map(([entity, components]) => (
          <li key={entity}>
            <button type="button" class="link" onClick={() => go({ entity })}>
              #{entity}
            </button>{' '}
            {[...components].map(([name, change]) => (
              <span key={name} class="chip" data-change={change} title={changeText(change, changes.writers, name)}>
                {name}
              </span>
            ))}
          </li>
        ))}
      </ul>
    </article>
  )
}

function Named({ name, value }: { readonly name: string; readonly value: object }) {
  const { kind: _, type: __, ...fields } = value as Record<string, never>
  return (
    <details class="named">
      <summary>
        <b>{name}</b> <span class="muted">{brief(fields)}</span>
      </summary>
      <JsonTree value={fields} />
    </details>
  )
}
