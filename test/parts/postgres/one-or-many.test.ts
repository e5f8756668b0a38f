import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { join } from 'node:path'
import { Client } from 'pg'
import { expect, inject, it } from 'vitest'
import { endingOf } from '../../../scripts/printed.ts'

const example = 'examples/one-or-many.ts'
/** A fleet that is closed keeps no process: what a world waits for when it is idle would for half a minute. */
const longestMs = 20_000

it('one program answers the same with a folder and with a database', async () => {
  const { said } = await endingOf(example)
  expect(await printed({})).toBe(said)
  const database = await newDatabase()
  expect(await printed({ DATABASE_URL: database })).toBe(said)
  // It knows the customer from before.
  expect(await printed({ DATABASE_URL: database })).toContain('You have written 4 times.')
})

async function printed(environment: NodeJS.ProcessEnv): Promise<string> {
  const { DATABASE_URL: _, ...inherited } = process.env
  const { stdout } = await promisify(execFile)(process.execPath, [join(import.meta.dirname, '../../..', example)], {
    env: { ...inherited, ...environment },
    timeout: longestMs,
  })
  return stdout.trimEnd()
}

/** The example uses the schema that a fleet has by itself, so it gets a database of its own. */
async function newDatabase(): Promise<string> {
  const url = new URL(inject('postgres'))
  const name = `one_or_many_${randomBytes(8).toString('hex')}`
  const client = new Client(url.href)
  await client.connect()
  await client.query(`CREATE DATABASE ${name}`)
  await client.end()
  url.pathname = `/${name}`
  return url.href
}
