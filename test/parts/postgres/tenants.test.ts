import { agent, scripted, standardSystems, SubagentRegistry, textOf, World } from 'entia'
import { defineFleet, type Fleet, type FleetOptions, type QueuedSession } from 'entia/postgres'
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest'
import { Pen, type Writing } from '../../behaviour/fleet/pen.ts'
import { newSchema } from './stores.ts'

const slots = 8
const floods = 20
const sessionsPerFlood = 10

/** Gives as many jobs to clerks as it is told to. */
const boss = scripted(({ messages }) => {
  const last = messages.at(-1)
  if (last?.role === 'tool') return 'All done.'
  const [count, job] = textOf(last).split(' ')
  const call = { name: 'subagent', arguments: { category: 'clerk', prompt: `A job of ${job}.` } }
  return { toolCalls: Array.from({ length: Number(count) }, () => call) }
})

function desk(name: string): World {
  const world = new World({ name, systems: standardSystems() })
  world.spawn(
    ...agent({ model: 'boss/any' }),
    SubagentRegistry({ subagents: { clerk: { name: 'clerk', model: 'pen/clerk' } } }),
  )
  return world
}

/** A fleet of two workers, and all that runs in it: each session goes on until the test ends it. */
class Office {
  readonly fleet: Fleet
  readonly #pen = new Pen()
  readonly #running: Writing[] = []
  /** Most sessions of each tenant that had a slot at once, in all samples. */
  readonly most = new Map<string, number>()

  private constructor(options: Partial<FleetOptions>) {
    this.fleet = defineFleet({
      database: inject('postgres'),
      schema: newSchema(),
      worlds: { desk },
      models: { boss, pen: this.#pen },
      maxSessions: slots,
      ...options,
    })
    onTestFinished(() => this.fleet.close())
  }

  static async open(options: Partial<FleetOptions> = {}): Promise<Office> {
    const office = new Office(options)
    await Promise.all([office.fleet.work(), office.fleet.work()])
    return office
  }

  /** Has worlds of a tenant launch sessions. Gives their answers, once all are in line. */
  async launch(
    tenant: string,
    worlds: number,
    sessions: number,
  ): Promise<readonly Promise<{ readonly text: string }>[]> {
    const before = (await this.#line(tenant)).length
    const answers = Array.from({ length: worlds }, (_, world) =>
      this.fleet.agent(`desk/${tenant}/${world}`).ask(`${sessions} ${tenant}`),
    )
    const isInLine = async (): Promise<void> => {
      const came = (await this.#line(tenant)).length - before
      if (came !== worlds * sessions) throw new Error(`${came} of ${worlds * sessions} sessions are in line.`)
    }
    await vi.waitFor(isInLine, { timeout: 60_000 })
    return answers
  }

  /** Resolves with the tenants of the next sessions that begin. */
  async begun(count: number): Promise<readonly string[]> {
    const tenants: string[] = []
    while (tenants.length < count) {
      const writing = await this.#pen.next()
      this.#running.push(writing)
      tenants.push(tenantOf(writing))
      await this.sample()
    }
    return tenants
  }

  /** Ends a session of a tenant. */
  end(tenant: string): void {
    const [writing] = this.#running.splice(
      this.#running.findIndex((each) => tenantOf(each) === tenant),
      1,
    )
    writing?.end('Done.')
  }

  /** Sessions of a tenant that wait for a slot. */
  async waiting(tenant: string): Promise<number> {
    return (await this.#line(tenant)).filter(({ hasSlot }) => !hasSlot).length
  }

  async sample(): Promise<void> {
    const line = await this.fleet.store.line.list()
    const running = Map.groupBy(
      line.filter(({ hasSlot }) => hasSlot),
      ({ tenant }) => tenant,
    )
    for (const [tenant, { length }] of running) this.most.set(tenant, Math.max(this.most.get(tenant) ?? 0, length))
    const taken = line.filter(({ hasSlot }) => hasSlot).length
    if (taken > slots) throw new Error(`${taken} sessions have one of ${slots} slots.`)
  }

  /** Lets all that runs, and all in line, end. */
  async finish(left: number): Promise<void> {
    for (const writing of this.#running.splice(0)) writing.end('Done.')
    for (let ended = 0; ended < left; ended++) {
      ;(await this.#pen.next()).end('Done.')
      if (ended % 10 === 0) await this.sample()
    }
  }

  async #line(tenant: string): Promise<readonly QueuedSession[]> {
    return (await this.fleet.store.line.list()).filter((each) => each.tenant === `desk/${tenant}`)
  }
}

function tenantOf({ asked }: Writing): string {
  return /A job of (\w+)\./.exec(asked)?.[1] ?? ''
}

const all = floods * sessionsPerFlood

describe('a tenant that floods a fleet with sessions', () => {
  it(
    'has all slots while it is alone, and leaves the next ones that become free to others',
    { timeout: 120_000 },
    async () => {
      const office = await Office.open()
      const flood = await office.launch('flood', floods, sessionsPerFlood)
      expect(await office.begun(slots)).toEqual(Array.from({ length: slots }, () => 'flood'))
      expect(office.most.get('desk/flood')).toBe(slots)
      const calm = await office.launch('calm', 1, slots / 2)
      expect(await office.waiting('calm')).toBe(slots / 2)
      // Each session that ends makes room for one: half of the slots are the other tenant's before the flood gets one more.
      for (let ended = 0; ended < slots / 2; ended++) {
        office.end('flood')
        expect(await office.begun(1)).toEqual(['calm'])
      }
      expect(await office.waiting('flood')).toBe(all - slots)
      for (let ended = 0; ended < slots / 2; ended++) office.end('calm')
      expect((await Promise.all(calm)).map(({ text }) => text)).toEqual(['All done.'])
      await office.finish(all - slots)
      expect((await Promise.all(flood)).every(({ text }) => text === 'All done.')).toBe(true)
    },
  )

  it('delays nobody where no tenant may have all slots', { timeout: 120_000 }, async () => {
    const most = slots - 2
    const office = await Office.open({ maxSessionsPerTenant: most })
    const flood = await office.launch('flood', floods, sessionsPerFlood)
    await office.begun(most)
    const calm = await office.launch('calm', 1, 2)
    // Nothing of the flood has ended.
    expect(await office.begun(2)).toEqual(['calm', 'calm'])
    expect(await office.waiting('flood')).toBe(all - most)
    office.end('calm')
    office.end('calm')
    await Promise.all(calm)
    await office.finish(all - most)
    await Promise.all(flood)
    expect(office.most.get('desk/flood')).toBe(most)
  })
})
