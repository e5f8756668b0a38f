import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { inspect } from '../../../src/inspector/index.ts'
import { agent, defineTool, memoryStore, Runner, scripted, standardSystems, textOf, World } from '../../../src/index.ts'
import { closeBrowser, openPage } from './browser.ts'
import { deepTeam } from './deep-team.ts'

afterAll(closeBrowser)

const at = (url: string) => url.replace('#', '#view=inbox&')

describe('an approval three levels deep', () => {
  it('that is declined with a reason does not run, is read by the model, and is gone in every open page', async () => {
    const team = await deepTeam()
    const served = await inspect(team.runner, { actions: true })
    {
      await using one = await openPage(at(served.url))
      await using other = await openPage(at(served.url), { width: 400, height: 800 })
      for (const { page } of [one, other]) await page.getByRole('row', { name: /deploy.*production 1/ }).waitFor()
      await one.page.getByRole('link', { name: 'Inbox 1' }).waitFor()
      await one.page.getByText(/^Version 1.4.2: the queue is bounded/).waitFor()
      const asking = one.page.getByRole('navigation', { name: 'Asked by' }).getByRole('link')
      expect(await asking.allInnerTexts()).toEqual(['shipping', 'manager', 'foreman', 'builder'])
      await one.page.getByLabel('Reason, which the model reads').fill('Not on a Friday.')
      await one.page.getByRole('button', { name: 'Decline' }).click()
      for (const { page } of [one, other]) {
        await page.getByText('Nothing is asked', { exact: true }).waitFor()
        await page.getByRole('link', { name: 'Inbox', exact: true }).waitFor()
      }
      await team.runner.idle()
    }
    expect(team.deployed).toEqual([])
    expect(team.read).toEqual(['[user declined: Not on a Friday.]'])
    await served.close()
    await team.runner.stop()
  })

  it('that is approved by the keyboard alone runs', async () => {
    const team = await deepTeam({ store: memoryStore() })
    const served = await inspect(team.runner, { actions: true })
    {
      await using opened = await openPage(at(served.url))
      const { page } = opened
      await page.getByRole('row', { name: /deploy/ }).waitFor()
      await page.locator('.inbox [role=grid][tabindex]').focus()
      await page.keyboard.press('Enter')
      await page.keyboard.type('Go.')
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      await page.getByText('Nothing is asked', { exact: true }).waitFor()
      await team.runner.idle()
    }
    expect(team.deployed).toEqual(['production 1'])
    await served.close()
    await team.runner.stop()
  })

  it('is shown, and cannot be answered, where actions are off', async () => {
    const team = await deepTeam()
    const served = await inspect(team.runner)
    {
      await using opened = await openPage(at(served.url))
      await opened.page.getByRole('row', { name: /deploy/ }).waitFor()
      await opened.page.getByText('Actions are off here').waitFor()
      expect(await opened.page.getByRole('button', { name: 'Approve' }).count()).toBe(0)
    }
    await served.close()
    await team.runner.stop()
  })
})

/** Agents that each want to write a file, under a Runner that asks about all of them. */
async function writers(count: number, content: (writer: number) => string, folder = '/nowhere') {
  const written: string[] = []
  const read: string[] = []
  const write = defineTool({
    name: 'write_file',
    description: 'Writes a file.',
    input: z.object({ path: z.string(), content: z.string() }),
    restart: 'once',
    approval: true,
    run: ({ path }) => void written.push(path),
  })
  const model = scripted(({ messages }) => {
    const [said, ...others] = [...messages]
    const writer = Number(textOf(said))
    read.push(...others.filter(({ role }) => role === 'tool').map((result) => textOf(result)))
    if (others.length > 0) return 'Done.'
    return {
      toolCalls: [{ name: 'write_file', arguments: { path: join(folder, `${writer}.txt`), content: content(writer) } }],
    }
  })
  const world = new World({ name: 'writers', seed: 2, systems: standardSystems() })
  for (let writer = 1; writer <= count; writer++)
    world.spawn(...agent({ model: 'script/x', tools: [write], messages: String(writer) }))
  const runner = new Runner(world, { models: { script: model }, tools: [write], approve: 'by-input' })
  let asked = 0
  const all = new Promise<void>((resolve) => void runner.on('approval-requested', () => ++asked === count && resolve()))
  await runner.start()
  await all
  return { runner, written, read }
}

describe('the inbox', () => {
  it('answers several at once, with one reason for all', async () => {
    const { read, runner, written } = await writers(5, (writer) => `text ${writer}`)
    const served = await inspect(runner, { actions: true })
    {
      await using opened = await openPage(at(served.url))
      const { page } = opened
      await page.getByText('5 open, the oldest first').waitFor()
      await page.getByRole('checkbox').nth(1).check()
      await page.getByRole('checkbox').nth(3).check()
      await page.getByLabel('Reason, which the model reads').fill('Too many files.')
      await page.getByRole('button', { name: 'Decline 2' }).click()
      await page.getByText('3 open, the oldest first').waitFor()
      await page.getByRole('button', { name: 'Choose all' }).click()
      await page.getByRole('button', { name: 'Approve 3' }).click()
      await page.getByText('Nothing is asked', { exact: true }).waitFor()
      await runner.idle()
    }
    expect(read.filter((text) => text === '[user declined: Too many files.]')).toHaveLength(2)
    expect(written.toSorted()).toEqual(['/nowhere/1.txt', '/nowhere/3.txt', '/nowhere/5.txt'])
    await served.close()
    await runner.stop()
  })

  it('shows what a call of a file tool would change', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'entia-inbox-'))
    await writeFile(join(folder, '1.txt'), 'one\ntwo\nthree\n')
    const { runner } = await writers(1, () => 'one\n<b>zwei</b>\nthree\n', folder)
    const served = await inspect(runner, { actions: true })
    {
      await using opened = await openPage(at(served.url))
      const lines = opened.page.getByRole('group', { name: /^Change of/ })
      await lines.waitFor()
      expect((await lines.innerText()).split('\n')).toEqual(['@@ line 1 @@', ' one', '-two', '+<b>zwei</b>', ' three'])
    }
    await served.close()
    await runner.stop()
    await rm(folder, { recursive: true })
  })

  it('reads long arguments only where they are opened', async () => {
    const long = 'word '.repeat(200_000)
    const { runner } = await writers(2, (writer) => (writer === 2 ? long : 'short'))
    const served = await inspect(runner, { actions: true })
    {
      await using opened = await openPage(at(served.url))
      const { asked, page } = opened
      await page.getByText('2 open, the oldest first').waitFor()
      expect(asked.filter((each) => each.startsWith('inbox?approval='))).toEqual([])
      await page.getByRole('row').nth(2).click()
      await page.getByRole('group', { name: /2\.txt$/ }).waitFor()
      expect(asked.filter((each) => each.startsWith('inbox?approval='))).toHaveLength(1)
    }
    await served.close()
    await runner.stop()
  })
})
