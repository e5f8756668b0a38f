import { useMemo } from 'preact/hooks'
import type { RawWorld } from '../../../world/raw-world.ts'
import { read } from '../../reading/raw-view.ts'
import { address, go } from '../data/address.ts'

/** How many agents a list of them has; of a world with more, an agent is opened by its number. */
const maxListed = 500

/** The agent that the address names, or the first of the world. */
export function agentOf(world: RawWorld): number | undefined {
  const { entity } = address.value
  if (entity !== undefined && world.value(entity, 'Llm') !== undefined) return entity
  // What an agent owns belongs to its view.
  const owner = entity === undefined ? undefined : read(world, entity, 'OwnedBy')?.agent
  return owner !== undefined && world.value(owner, 'Llm') !== undefined ? owner : world.entitiesWith('Llm')[0]
}

/** Which agent of a world is shown. */
export function AgentPicker({ agent, world }: { readonly world: RawWorld; readonly agent: number }) {
  const agents = world.entitiesWith('Llm')
  const listed = useMemo(() => agents.slice(0, maxListed), [agents.length, agents.at(-1)])
  const nameOf = (entity: number) => `#${entity}  ${read(world, entity, 'Llm')?.model ?? ''}`
  if (agents.length === 1) return <span class="muted agent-name">{nameOf(agent)}</span>
  const choose = (text: string) => {
    const entity = Number(text.replace(/^#/, ''))
    if (text !== '' && world.value(entity, 'Llm') !== undefined) go({ entity, q: undefined })
  }
  if (agents.length > maxListed) {
    return (
      <label class="agent-picker">
        <span class="muted">Agent</span>
        <input
          inputMode="numeric"
          size={7}
          value={`#${agent}`}
          onChange={({ currentTarget }) => choose(currentTarget.value)}
        />
        <span class="muted">one of {agents.length.toLocaleString('en')}</span>
      </label>
    )
  }
  return (
    <label class="agent-picker">
      <span class="hidden">Agent</span>
      <select value={String(agent)} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        {listed.map((entity) => (
          <option key={entity} value={String(entity)}>
            {nameOf(entity)}
          </option>
        ))}
      </select>
    </label>
  )
}
