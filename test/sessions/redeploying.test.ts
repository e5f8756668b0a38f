import { defineTool, memoryStore, SessionPool, type Tool } from 'entia'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { reopened } from '../engine/driving.ts'
import { askedByTask, dyingTeam, finished } from './dying-team.ts'
import { after } from './pace.ts'
import { launch, once } from './sleepy-team.ts'
import { type Behaviour, call, calls, sessionsOf } from './team.ts'

const look = (field: string): Tool =>
  defineTool({
    name: 'look',
    description: 'Looks.',
    input: z.object({ [field]: z.string() }),
    restart: 'pure',
    run: () => 'a tree',
  })

/** Calls its tool, as it is declared after the deployment. */
const worker: Behaviour = (request, context) =>
  after(100, request.messages.length < 2 ? calls(call('a', 'look', { place: 'home' })) : 'Looked.')(request, context)

async function cutOff() {
  const kept = memoryStore()
  const made = dyingTeam([calls(launch('a', 'work')), 'Launched.', 'Woken.'], {
    kept,
    subagents: { researcher: { tools: ['look'] } },
    agent: { tools: [look('word')] },
    worker,
    runner: { tools: [look('word')] },
  })
  await made.runner.start()
  await once(made, () => askedByTask(made)['work']?.length === 1)
  await made.die()
  const again = await reopened(kept, {
    ...made.options,
    sessionPool: new SessionPool(),
    tools: [look('place')],
  })
  await finished(again)
  return { again, made }
}

describe('a session whose tool has changed while its process was down', () => {
  it('goes on with the tool as it is now, which is told with its path', async () => {
    const { again, made } = await cutOff()
    const told = again.told('tool-changed')
    const [session] = sessionsOf(again.world, made.lead)
    expect(told.filter(({ path }) => path !== undefined)).toMatchObject([
      { path: [session?.sessionId], tool: 'look', change: 'changed' },
    ])
    expect(told.filter(({ path }) => path === undefined)).toMatchObject([{ agent: made.lead, tool: 'look' }])
    expect(again.told('tool-answered').at(-1)).toMatchObject({ isError: false, result: [{ text: 'a tree' }] })
    expect(session?.status).toBe('succeeded')
  })
})
