import { defineFleet, type FleetDispatcher, postgresDispatcher } from 'entia/postgres'
import { describe, expect, it } from 'vitest'
import { desk } from '../parts/postgres/desk.ts'

const fleet = { database: 'postgres://127.0.0.1:1/none', worlds: { desk } }
const without: FleetDispatcher = { name: 'mine', hasTenantCaps: false, open: postgresDispatcher().open }

describe('the dispatcher of a fleet', () => {
  it('is refused where it is none', () => {
    for (const dispatcher of ['dbos', {}, { open: 1 }, () => undefined] as unknown[] as FleetDispatcher[])
      expect(() => defineFleet({ ...fleet, dispatcher })).toThrow(
        expect.objectContaining({ code: 'invalid-argument', message: expect.stringContaining('dispatcher') }),
      )
  })

  it('that has no cap for each tenant is refused beside such a cap, and named', () => {
    const both = { ...fleet, maxSessionsPerTenant: 5, dispatcher: without }
    expect(() => defineFleet(both)).toThrow(/'mine' has no cap for each tenant, got maxSessionsPerTenant 5/)
    expect(() => defineFleet({ ...fleet, dispatcher: without })).not.toThrow()
    expect(() => defineFleet({ ...fleet, maxSessionsPerTenant: 5, dispatcher: postgresDispatcher() })).not.toThrow()
  })

  it('is opened for each that looks at the sessions, with the store, and closed with it', async () => {
    const said: string[] = []
    const line = { list: async () => [], counts: async () => ({ sessionsRunning: 0, sessionsWaiting: 0 }) }
    const dispatcher: FleetDispatcher = {
      ...without,
      open: ({ database, schema, store }) => {
        said.push(`open ${database} ${schema}`)
        return { ...store.line, ...line, close: async () => void said.push('closed') }
      },
    }
    const made = defineFleet({ ...fleet, dispatcher, schema: 'mine' })
    await expect(made.status()).rejects.toMatchObject({ code: 'store-failed' })
    await made.close()
    expect(said).toEqual([`open ${fleet.database} mine`, 'closed'])
  })
})
