import { memoryStore, type Recording, recordingOf, Runner, type RunnerOptions, SessionPool, VirtualClock } from 'entia'
import { busyTeam } from '../sim/busy-team.ts'

/** The recording of a lead with tools, approvals, forks and sessions, as a Runner has stored it. */
export async function storedTeam(): Promise<Recording> {
  const { world, tools, models } = busyTeam()
  const store = memoryStore()
  const runner = new Runner(world(1), {
    store,
    record: true,
    tools: tools as NonNullable<RunnerOptions['tools']>,
    models: models as NonNullable<RunnerOptions['models']>,
    approve: () => Promise.resolve({ approved: true }),
    clock: new VirtualClock(),
    sessionPool: new SessionPool({ cap: 2 }),
  })
  await runner.start()
  await runner.idle()
  await runner.stop()
  return recordingOf(store, 'team')
}
