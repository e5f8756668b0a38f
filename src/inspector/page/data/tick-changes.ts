import type { Step } from '../../../world/journal.ts'

export type Change = 'set' | 'appended' | 'spliced' | 'removed' | 'despawned'

/** What a tick changed. */
export interface TickChanges {
  /** By entity, then by component. */
  readonly byEntity: ReadonlyMap<number, ReadonlyMap<string, Change>>
  readonly spawned: ReadonlySet<number>
  readonly despawned: readonly number[]
  /** The system that wrote a component last, by component; absent: the run was not recorded. */
  readonly writers: Readonly<Record<string, string>> | undefined
}

export function changesIn({ delta, writers }: Step): TickChanges {
  const byEntity = new Map<number, Map<string, Change>>()
  const note = (entity: number, component: string, change: Change): void => {
    const known = byEntity.get(entity)
    if (known === undefined) byEntity.set(entity, new Map([[component, change]]))
    else known.set(component, change)
  }
  for (const change of ['set', 'appended', 'spliced'] as const) {
    for (const [component, rows] of Object.entries(delta[change] ?? {})) {
      for (const [entity] of rows) note(entity, component, change)
    }
  }
  for (const [component, entities] of Object.entries(delta.removed ?? {})) {
    for (const entity of entities) note(entity, component, 'removed')
  }
  const { despawned = [], spawned = [] } = delta
  return { byEntity, spawned: new Set(spawned), despawned, writers }
}
