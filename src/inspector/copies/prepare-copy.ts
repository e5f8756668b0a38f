import { interrupted } from '../../../systems/agent/restart.ts'
import { isChildEffect } from '../../engine/children/kinds.ts'
import type { Component } from '../../world/component.ts'
import { canonical } from '../../world/canonical.ts'
import { readBySchema } from '../../world/component.ts'
import { EntiaError } from '../../base/entia-error.ts'
import type { Json } from '../../base/json.ts'
import type { RawWorld } from '../../world/raw-world.ts'
import { read } from '../reading/raw-view.ts'
import type { ForkEdit } from '../reading/wire.ts'

/**
 * Settles what was in flight and may have happened outside as interrupted: a copy cannot know. Pure work has not begun in the copy,
 * which begins it; questions to a person stay open; worlds below go on by themselves. Inherited keys go, so that those of the
 * original are never used again.
 */
export function settleInFlight(world: RawWorld, components: ReadonlyMap<string, Component>): void {
  for (const entity of world.entitiesWith('Effect')) {
    const effect = read(world, entity, 'Effect')
    if (effect === undefined) continue
    const { key, ...withoutKey } = effect
    if (key !== undefined) world.put(entity, 'Effect', withoutKey, components.get('Effect')?.version)
    const isOpen = [world.value(entity, 'Pending'), world.value(entity, 'Running')].some((mark) => mark !== undefined)
    const isInside = effect.kind === 'approval' || effect.kind === 'timer' || isChildEffect(effect.kind)
    if (!isOpen || isInside || effect.restart === 'pure') continue
    world.remove(entity, 'Pending')
    world.remove(entity, 'Running')
    world.put(entity, 'Outcome', interrupted, components.get('Outcome')?.version)
  }
}

/** Writes what a person has changed, checked by the schema of each component. All or nothing. @throws `invalid-argument`, `invalid-value`, `unknown-component`, `unknown-entity` */
export function edit(world: RawWorld, edits: readonly ForkEdit[], components: ReadonlyMap<string, Component>): void {
  const checked = edits.map((one) => ({ ...one, value: checkedValue(world, one, components) }))
  for (const { component, entity, index, value } of checked) {
    if (index === undefined) world.put(entity, component, value, components.get(component)?.version)
    else world.replaceItem(entity, component, index, value)
  }
}

function checkedValue(
  world: RawWorld,
  { component, entity, index, value }: ForkEdit,
  components: ReadonlyMap<string, Component>,
): Json {
  const whose = `entity ${entity}, component ${component}`
  const token = components.get(component)
  if (token === undefined) {
    const advice = 'This program does not know it, so that its value cannot be checked. Pass it in components.'
    throw new EntiaError('unknown-component', `${whose}: ${advice}`, { component })
  }
  if (!world.has(entity)) {
    const advice = 'Choose one of the World view.'
    throw new EntiaError('unknown-entity', `${whose}: there is no such entity at this tick. ${advice}`, { entity })
  }
  const before = world.value(entity, component)
  if (before === undefined)
    throw misuse(`${whose}: the entity does not have it at this tick. Only what is there can be changed`)
  const given = canonical(value, () => whose)
  if (token.kind === 'tag') throw misuse(`${whose}: a tag has no value that could be changed`)
  if (token.kind === 'value') {
    if (index !== undefined) throw misuse(`${whose}: it is no log, so that it has no item ${index}`)
    return readBySchema(token, given, () => `${whose}: `)
  }
  const log = before as readonly Json[]
  if (index === undefined) {
    if (!Array.isArray(given)) throw misuse(`${whose}: a log must be a list`)
    return given.map((item: Json, at) => readBySchema(token, item, () => `${whose}, item ${at}: `))
  }
  if (index >= log.length) throw misuse(`${whose}: the log has ${log.length} items, so that there is no item ${index}`)
  return readBySchema(token, given, () => `${whose}, item ${index}: `)
}

function misuse(message: string): EntiaError {
  return new EntiaError('invalid-argument', `${message}.`)
}
