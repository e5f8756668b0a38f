import { defineTool, scripted, VirtualClock } from 'entia'
import { collectSubagent, openSession, querySubagent, sessionSetup, spawnSubagent } from 'entia/runtime'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { tempFolder } from '../../tools/temp-folder.ts'

it('a subagent that investigates has no bash, even after its chat session was opened again', async () => {
  const folder = await tempFolder({})
  const env = Object.fromEntries(
    ['CONFIG', 'DATA', 'CACHE', 'STATE'].map((name) => [`ENTIA_${name}_DIR`, `${folder}/${name}`]),
  )
  const ran: string[] = []
  const answers: { readonly text: string; readonly isError: boolean | undefined }[] = []
  const offered: string[][] = []
  const provider = scripted(({ messages, tools }) => {
    offered.push(tools.map(({ name }) => name))
    const last = messages.at(-1)
    if (last?.role !== 'tool') return { toolCalls: [{ name: 'bash', arguments: {} }] }
    const text = last.content.map((part) => (part.type === 'text' ? part.text : '')).join('')
    answers.push({ text, isError: last.isError })
    return 'I am blocked.'
  })
  const tools = ['read_file', 'bash'].map((name) =>
    defineTool({
      name,
      description: name,
      input: z.object({}),
      restart: 'once',
      run: () => (ran.push(name), 'it ran'),
    }),
  )
  const common = {
    env: { ...env, HOME: folder },
    cwd: folder,
    tools,
    policyFunction: () => 'allow' as never,
    host: { clock: new VirtualClock(), models: { script: provider } },
    onNotice: () => undefined,
  }
  const before = await sessionSetup({ ...common, provider: 'script', model: 'm' })
  const id = await spawnSubagent(before, { task: 'Look around.', preset: 'investigate' })
  expect(await collectSubagent(before, id, { wait: true })).toBe('I am blocked.')
  await before.close()
  const session = await openSession({ ...common, key: before.key })
  onTestFinished(() => session.close())
  expect(await querySubagent(session, id, 'Try again.')).toBe('I am blocked.')
  expect(ran).toEqual([])
  expect(answers).toHaveLength(2)
  for (const { isError, text } of answers) {
    expect(isError).toBe(true)
    expect(text).toMatch(/no tool named '?bash/)
  }
  for (const names of offered) expect(names).not.toContain('bash')
})
