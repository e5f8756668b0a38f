import { Delegated } from 'entia/components'
import { defineFleet } from 'entia/postgres'
import { expect, inject, it, onTestFinished } from 'vitest'
import { restored } from '../../../src/engine/loop/stored-ticks.ts'
import {
  callNanoUsd,
  handsDown,
  looks,
  type OfficeOptions,
  officeKnown,
  officeParts,
} from '../../behaviour/fleet/office.ts'
import { newSchema } from './stores.ts'

it('counts what sessions spend below one that is stopped, whichever worker has it then', async () => {
  const thinks = Promise.withResolvers<void>()
  const says: OfficeOptions['says'] = ({ spoken, task }) => {
    const level = Number(task)
    if (level > 0) return spoken === 0 ? handsDown(`${level - 1}`) : `done ${level}`
    if (spoken === 0) return looks
    thinks.resolve()
    return undefined
  }
  const { host, make } = officeParts({ says })
  const schema = newSchema()
  const process = () => {
    const made = defineFleet({ database: inject('postgres'), schema, worlds: { desk: make }, idleMs: 50, ...host() })
    onTestFinished(() => made.close())
    return made
  }
  const [front, one, two, three] = [process(), process(), process(), process()]
  const workers = await Promise.all([one, two, three].map((each) => each.work({ sessions: 1 })))
  const desk = front.agent('desk/1')
  await desk.message('3')
  await thinks.promise
  // Who has the lowest session hands it on while all of them are stopped.
  const handedOn = workers[0]?.stop()
  await desk.cancel()
  await handedOn
  const counted = async () => {
    const stored = await front.store.read('desk/1', { root: 'desk/1' })
    return stored && restored('desk/1', stored, officeKnown).world.get(1, Delegated)
  }
  await expect.poll(counted).toMatchObject({
    reservedCostNanoUsd: 0,
    spentCostNanoUsd: 3 * callNanoUsd,
    spentSessions: 2,
    spentTokens: 330,
  })
  await expect.poll(async () => (await front.status()).sessions).toEqual([])
  expect(await desk.sessions()).toMatchObject([{ status: 'cancelled' }])
})
