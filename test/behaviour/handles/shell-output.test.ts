import { sqliteStore, type World } from 'entia'
import { Workspace } from 'entia/components'
import { builtinTools } from 'entia/runtime'
import { describe, expect, it, onTestFinished } from 'vitest'
import { tempFolder } from '../../tools/temp-folder.ts'
import { transcript } from '../../transcript.ts'
import { behaving, settled, worldWith } from '../turns/driving.ts'
import { read } from './stored-values.ts'

describe('a command that prints 1,000,000 characters', () => {
  it('shows 5,000 and 25,000, and a handle that has all of them', async () => {
    const tools = builtinTools({ cwd: await tempFolder(), tools: ['bash', 'data'] })
    const store = sqliteStore({ folder: await tempFolder(), synchronous: 'normal' })
    onTestFinished(() => store.close())
    const { world, agent } = worldWith({ tools })
    world.add(agent, Workspace)
    const command = String.raw`head -c 5000 /dev/zero | tr '\0' a; head -c 970000 /dev/zero | tr '\0' b; head -c 25000 /dev/zero | tr '\0' c`
    const steps = [{ name: 'bash', arguments: { command } }, read('.h_001', { op: 'summary' })]
    const { models } = behaving(({ messages }) => {
      const step = steps[messages.filter(({ role }) => role === 'tool').length]
      return step === undefined ? 'Done.' : { toolCalls: [step] }
    })
    await settled(world, { models, store, tools })
    const note = '[970000 characters left out; all of it: .h_001]'
    expect(results(world, agent)).toEqual([
      `${'a'.repeat(5_000)}\n${note}\n${'c'.repeat(25_000)}`,
      'text: 1 line, 1000000 characters, 1000000 bytes; longest line: 1000000 characters',
    ])
  })
})

function results(world: World, agent: number): string[] {
  const lines = transcript(world, agent).filter((line) => line.startsWith('tool '))
  return lines.map((line) => line.replace(/^tool [^:!]*: /, ''))
}
