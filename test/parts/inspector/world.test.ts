import { afterAll, describe, expect, it } from 'vitest'
import { memoryStore } from '../../../src/index.ts'
import { inspect } from '../../../src/inspector/index.ts'
import { RunSource } from '../../../src/inspector/run-source.ts'
import { opened } from './agent-views.ts'
import { closeBrowser, openPage } from './browser.ts'
import { deepTeam } from './deep-team.ts'
import { savedRun } from './saved-runs.ts'
import { expectAddress, expectShown, expectText } from './shown.ts'

afterAll(closeBrowser)

const delegating = { AwaitingSession: 4, SubagentSession: 6 } as const

describe('the view of a World', () => {
  it('goes from an entity to those that it refers to, and from those back, and the address says where it is', async () => {
    const team = await deepTeam({ store: memoryStore() })
    {
      await using view = await opened(team.runner, `view=world&entity=${delegating.AwaitingSession}`)
      const { page } = view
      const component = (name: string) =>
        page.locator('section.component', { has: page.getByRole('heading', { name, exact: true }) })
      await component('OwnedBy').getByRole('button', { name: '#1', exact: true }).click()
      await expectShown(page.getByRole('heading', { name: 'Entity 1', exact: true }))
      await expectAddress(page, 'entity=1&')
      const from = component('Referred to by').getByRole('listitem')
      await expectText(from.filter({ hasText: `#${delegating.AwaitingSession}` }).first(), /^#4 OwnedBy$/)
      await from
        .filter({ hasText: `#${delegating.SubagentSession}` })
        .first()
        .getByRole('button')
        .click()
      await expectShown(page.getByRole('heading', { name: `Entity ${delegating.SubagentSession}`, exact: true }))
      // Another person with the link sees the same.
      await using other = await openPage(page.url())
      await expectShown(other.page.getByRole('heading', { name: `Entity ${delegating.SubagentSession}`, exact: true }))
      await page.getByRole('button', { name: 'Show the tick' }).click()
      await expectShown(page.getByRole('heading', { name: `Tick ${team.runner.world.tick}`, exact: true }))
      await page.goto(page.url().replace('#', '#entity=999&'))
      await expectShown(page.getByText('It is not there at this tick'))
    }
    await team.runner.stop()
  })

  it('shows the entities of a query, keeps it in the address, and says what it cannot read', async () => {
    const team = await deepTeam({ store: memoryStore() })
    {
      await using view = await opened(team.runner, 'view=world&q=ToolCall%2C+OwnedBy')
      const { page } = view
      const entities = async () => {
        const cells = await page.getByRole('grid', { name: 'Entities' }).getByRole('gridcell').allInnerTexts()
        return cells.filter((text) => /^\d+$/.test(text)).map(Number)
      }
      const all = team.runner.world.entities()
      const query = page.getByLabel('Query', { exact: true })
      await expectText(page.getByRole('region', { name: 'World' }), new RegExp(`1 of ${all.length} entities`))
      expect(await entities()).toEqual([delegating.AwaitingSession])
      expect(await query.inputValue()).toBe('ToolCall, OwnedBy')
      for (const [text, found] of [
        ['Llm', [1]],
        ['not(Llm)', all.filter((entity) => entity !== 1)],
        ['!Llm, SubagentSession', [delegating.SubagentSession]],
        [' SubagentSession ,not( ToolCall ), ', [delegating.SubagentSession]],
        ['Llm, ToolCall', []],
        ['', all],
      ] as const) {
        await query.fill(text)
        await expect.poll(entities, { message: text }).toEqual([...found])
      }
      for (const [text, problem] of [
        ['Llm, Nonsense', "No entity has a component 'Nonsense' at this tick."],
        ['Llm(1)', "'Llm(1)' must be a component or not(component)."],
        ['<img src=x>', "'<img src=x>' must be a component or not(component)."],
        ['constructor', "No entity has a component 'constructor' at this tick."],
      ] as const) {
        await query.fill(text)
        await expectShown(page.getByText(problem, { exact: true }))
        expect(await query.getAttribute('aria-invalid')).toBe('true')
        expect(await entities()).toEqual([])
      }
      await query.fill('Llm, ToolCall')
      await expectShown(page.getByText('None has these components at this tick.'))
      await expectAddress(page, 'q=Llm%2C+ToolCall')
    }
    await team.runner.stop()
  })

  it('marks what a tick changed, and names the system that wrote it', async () => {
    const team = await deepTeam({ store: memoryStore() })
    const { tick } = team.runner.world
    {
      await using view = await opened(team.runner, `view=world&tick=${tick}&entity=${delegating.SubagentSession}`)
      const { page } = view
      await expectText(
        page.getByRole('heading', { name: /^SubagentSession/ }),
        /set in this tick, by (?!no system)[\w-]+$/,
      )
      const marked = page.getByRole('row', { name: /^6 / }).locator('.chip[data-change]')
      expect(await marked.allInnerTexts()).toContain('SubagentSession')
      expect(await page.getByRole('row', { name: /^2 / }).locator('.chip[data-change]').count()).toBe(0)
      await page.keyboard.press('ArrowLeft')
      await expectText(page.getByRole('heading', { name: /^SubagentSession/ }), /^SubagentSession(?!.*by undefined)/)
    }
    await team.runner.stop()
  })

  it('says that it does not know the system, where the run was not recorded', async () => {
    const team = await deepTeam()
    {
      await using view = await opened(team.runner, 'view=world&entity=1')
      const { page } = view
      await expectShown(page.getByRole('heading', { name: 'Entity 1', exact: true }))
      // What a tick has changed is shown by a page that has seen the tick before it.
      await expect
        .poll(async () => {
          await team.runner.message(1, 'Hurry.')
          return page.getByText('writer unknown: the run was not recorded').count()
        })
        .toBeGreaterThan(0)
    }
    await team.runner.stop()
  })
})

describe('the ticks of a run', () => {
  it(
    'are played from the first to the newest, which ends it, and are gone to by the scrubber',
    { timeout: 60_000 },
    async () => {
      const [, session] = await savedRun({ sessions: 1, steps: 20 })
      const newest = session?.rows.at(-1)?.tick ?? 0
      expect(newest).toBeGreaterThan(30)
      const served = await inspect(new RunSource({ title: 'run', worlds: session === undefined ? [] : [session] }))
      {
        await using played = await openPage(served.url.replace('#', '#view=world&'))
        const { page } = played
        const at = (tick: number) => page.getByRole('heading', { name: `Tick ${tick}`, exact: true }).waitFor()
        await at(newest)
        await page.keyboard.press(' ')
        await expectShown(page.getByRole('button', { name: 'Stop playing' }))
        await at(newest)
        await expectShown(page.getByRole('button', { name: 'Play', exact: true }))
        const scrubber = page.getByRole('slider', { name: 'Tick' })
        await scrubber.focus()
        await page.keyboard.press('Home')
        await at(0)
        await page.keyboard.press('PageDown')
        await at(newest)
        expect(await scrubber.getAttribute('aria-valuetext')).toBe(`Tick ${newest} of ${newest}`)
        await page.keyboard.press('PageUp')
        await at(0)
        await page.keyboard.press('End')
        await at(newest)
        const { height, width, x, y } = (await scrubber.boundingBox())!
        await page.mouse.move(x + width / 4, y + height / 2)
        await page.mouse.down()
        await at(Math.round(newest / 4))
        await page.mouse.move(x + width / 2, y + height / 2)
        await at(Math.round(newest / 2))
        await page.mouse.move(x + 2 * width, y + height / 2)
        await page.mouse.up()
        await at(newest)
      }
      await served.close()
    },
  )
})
