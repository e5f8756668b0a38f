import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { agent, defineTool, memoryStore, Runner, scripted, standardSystems, World } from '../../../src/index.ts'
import { inspect } from '../../../src/inspector/index.ts'
import { closeBrowser, openPage, viewsOf } from './browser.ts'

afterAll(closeBrowser)

/** What a tool of an enemy gives back, and a phrase of it by which a person finds it. */
const hostile: Readonly<Record<string, readonly [text: string, phrase: string]>> = {
  image: ['<img src=x onerror="globalThis.isHacked = 1"> after the image', 'after the image'],
  script: ['</script><script>globalThis.isHacked = 1</script> after the script', 'after the script'],
  link: ['[press me](javascript:globalThis.isHacked=1) after the link', 'after the link'],
  home: ['![seen](https://elsewhere.example/seen.png) after the picture', 'after the picture'],
  svg: [
    '<svg onload="globalThis.isHacked = 1"></svg><iframe src="javascript:1"></iframe> after the frame',
    'after the frame',
  ],
  ansi: ['\u001b[31mred\u001b[0m\u001b]8;;https://elsewhere.example\u0007 after the colour', 'after the colour'],
  half: ['half \ud83d a surrogate', 'a surrogate'],
  long: [`begins here ${'long '.repeat(1_000_000)}`, 'begins here'],
  prototype: ['{"__proto__":{"isHacked":1}} after the prototype', 'after the prototype'],
}

async function hostileRun() {
  const names = Object.keys(hostile)
  const gives = defineTool({
    name: 'gives',
    description: 'Gives something.',
    input: z.object({ what: z.string() }),
    restart: 'pure',
    maxResultChars: 6_000_000,
    run: ({ what }) => hostile[what]?.[0] ?? '',
  })
  const world = new World({ name: '<b onmouseover=isHacked=1>evil</b>', seed: 4, systems: standardSystems() })
  world.spawn(
    ...agent({ model: 'script/<i>model</i>', tools: [gives], messages: '<u>Look</u>', maxSteps: 20, maxToolCalls: 20 }),
  )
  const script = scripted(({ messages }) => {
    const what = names[messages.filter(({ role }) => role === 'tool').length]
    return what === undefined
      ? '<script>isHacked = 1</script>Done.'
      : { toolCalls: [{ name: 'gives', arguments: { what } }] }
  })
  const runner = new Runner(world, { models: { script }, tools: [gives], store: memoryStore(), record: true })
  await runner.start()
  await runner.idle()
  return runner
}

describe('what models and tools write', { timeout: 60_000 }, () => {
  it('is text in every view: nothing runs, nothing is fetched, and a person reads it soon', async () => {
    const runner = await hostileRun()
    const served = await inspect(runner)
    const { name } = runner.world
    const views = await viewsOf(served.url)
    const addressOf = (view: string) => {
      const at = new URLSearchParams({ world: name, view, entity: '1' })
      return served.url.replace('#', `#${at.toString()}&`)
    }
    await using opened = await openPage(addressOf('sessions'))
    const { page } = opened
    for (const id of [...views, 'world']) {
      await page.goto(addressOf(id))
      await page.locator('main .view, main .notice:not(.is-loading)').first().waitFor()
      const state = await page.evaluate(() => ({
        isHacked: 'isHacked' in globalThis || 'isHacked' in {},
        strange: document.querySelectorAll(
          'main img[src^=http], iframe, object, embed, main script, a[href^=javascript]',
        ).length,
        handlers: [...document.querySelectorAll('main *')].filter((each) =>
          each.getAttributeNames().some((attribute) => attribute.startsWith('on')),
        ).length,
      }))
      expect({ id, ...state }).toEqual({ id, isHacked: false, strange: 0, handlers: 0 })
    }

    await page.getByRole('heading', { name: 'Entity 1' }).waitFor()
    // Messages are opened, and what is in them: the first by a real click.
    const conversation = page.locator('.component', { has: page.getByRole('heading', { name: /^Conversation/ }) })
    const closed = conversation.locator('details:not([open]) > summary')
    await closed.first().click()
    for (let depth = 0; depth < 4; depth++) {
      await closed.evaluateAll((all) => all.forEach((each) => (each as HTMLElement).click()))
      await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))')
    }
    const longest = await page.evaluate(
      () =>
        new Promise<number>((resolve) => {
          const begin = performance.now()
          requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - begin)))
        }),
    )
    for (const [, [, phrase]] of Object.entries(hostile)) await conversation.getByText(phrase).first().waitFor()
    await conversation.getByRole('button', { name: /all 5,000,012 characters/ }).waitFor()
    expect(longest).toBeLessThan(500)
    expect(await page.evaluate(() => 'isHacked' in globalThis)).toBe(false)
    await served.close()
    await runner.stop()
  })
})
