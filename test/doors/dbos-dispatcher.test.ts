import { dbosDispatcher, dbosDispatcherDefaults } from 'entia/dbos'
import { defineFleet } from 'entia/postgres'
import { describe, expect, it } from 'vitest'
import { desk } from '../parts/postgres/desk.ts'

describe('the dispatcher over DBOS', () => {
  it('has caps for tenants, and asks for nothing before it is used', () => {
    const options = { database: 'postgres://127.0.0.1:1/none', worlds: { desk }, dispatcher: dbosDispatcher() }
    expect(() => defineFleet({ ...options, maxSessionsPerTenant: 5 })).not.toThrow()
    expect(dbosDispatcher()).toMatchObject({ name: 'dbos', hasTenantCaps: true })
  })

  it('refuses options that it does not have, and names that are none', () => {
    for (const options of [{ scheme: 'dbos' }, { schema: '' }, { applicationName: 1 }] as unknown[] as object[])
      expect(() => dbosDispatcher(options)).toThrow(expect.objectContaining({ code: 'invalid-argument' }))
    expect(dbosDispatcherDefaults).toEqual({ applicationName: 'entia', schema: 'dbos' })
  })
})
