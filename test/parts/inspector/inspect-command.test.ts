import { mkdtemp, readFile, readdir, writeFile } from 'node:fs/promises'
import { createHash } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { memoryStore, sqliteStore, World, agent, Runner, scripted, standardSystems } from '../../../src/index.ts'
import { saveRecording } from '../../../src/sim/index.ts'
import { Program } from '../../cli/program.ts'
import type { RunFacts, SourceInfo } from '../../../src/inspector/reading/wire.ts'
import { closeBrowser, openPage } from './browser.ts'
import { client, finishedRun } from './copied-runs.ts'

afterAll(closeBrowser)

const story = join(import.meta.dirname, '../../programs/broken-shop.ts')

function folder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'entia-inspect-'))
}

/** The link that the program prints. */
async function linkOf(program: Program, from: 'stdout' | 'stderr' = 'stdout'): Promise<string> {
  let text = ''
  for await (const piece of program.child[from]?.iterator({ destroyOnReturn: false }) ?? []) {
    text += String(piece)
    const [link] = /http:\/\/\S+/.exec(text) ?? []
    if (link !== undefined) return link
  }
  throw new Error(`The program printed no link: ${(await program.ended).stderr}`)
}

async function bytesOf(at: string): Promise<string> {
  const hash = createHash('sha256')
  for (const name of (await readdir(at)).toSorted())
    if (name.endsWith('.sqlite')) hash.update(await readFile(join(at, name)))
  return hash.digest('hex')
}

async function refusal(args: readonly string[], at: string): Promise<{ code: number | null; text: string }> {
  const { code, stderr } = await new Program(['inspect', ...args], { in: at }).ended
  return { code, text: stderr }
}

describe('entia inspect', { timeout: 120_000 }, () => {
  it('shows the worlds of a folder, makes copies elsewhere, and leaves the folder byte for byte as it was', async () => {
    const [at, out] = [await folder(), await folder()]
    const store = sqliteStore({ folder: at })
    const runner = await finishedRun('walk', 20, store)
    await runner.stop()
    await store.close()
    const before = await bytesOf(at)
    const program = new Program(['inspect', '.', 'walk', '--out', out], { in: at })
    const link = await linkOf(program)
    {
      await using opened = await openPage(link)
      const { page } = opened
      await page.getByText('of 42').waitFor()
      await page.getByRole('button', { name: 'Act' }).click()
      await page.getByRole('menuitem', { name: /Fork from tick 42/ }).click()
      await page.getByLabel('The recorded answers').waitFor()
      await page.getByText('The program’s models').waitFor({ state: 'hidden' })
      await page.getByRole('button', { name: 'Fork from tick 42' }).click()
      await page.getByText('A copy of').waitFor()
    }
    program.child.kill('SIGINT')
    expect(await program.ended).toMatchObject({ code: 0, stderr: '' })
    expect(await bytesOf(at)).toBe(before)
    const copies = sqliteStore({ folder: out })
    expect((await copies.list()).map(({ name }) => name)).toEqual(['walk-fork-1'])
    await copies.close()
  })

  it('makes no copy of a store where no place is named for it', async () => {
    const at = await folder()
    const store = sqliteStore({ folder: at })
    await (await finishedRun('walk', 2, store)).stop()
    await store.close()
    const program = new Program(['inspect', '.'], { in: at })
    const { ask } = client(await linkOf(program))
    const body = JSON.stringify({ do: 'fork', world: 'walk', tick: 1, driver: 'none' })
    const reply = await ask('act', { method: 'POST', body })
    expect([reply.status, await reply.json()]).toEqual([
      403,
      { code: 'forbidden', message: expect.stringContaining('--out FOLDER') as string },
    ])
    program.child.kill('SIGINT')
    await program.ended
  })

  it('opens a recording', async () => {
    const at = await folder()
    const store = memoryStore()
    await (await finishedRun('walk', 3, store)).stop()
    await saveRecording(store, 'walk', join(at, 'walk.jsonl'))
    const program = new Program(['inspect', 'walk.jsonl'], { in: at })
    const link = await linkOf(program)
    {
      await using opened = await openPage(link)
      await opened.page.getByText('of 8').waitFor()
    }
    program.child.kill('SIGINT')
    expect((await program.ended).code).toBe(0)
  })

  it('opens a failing seed that entia sim has saved: the law, its tick, the faults, a test that fails, and the shrinker', async () => {
    const at = await folder()
    const failed = await new Program(['sim', story, '--seeds', '40', '--save', 'failure.json'], { in: at }).ended
    expect(failed.code).toBe(1)
    expect(failed.stdout).toContain('To look at it: entia inspect failure.json --with ')
    const program = new Program(['inspect', 'failure.json', '--with', story], { in: at })
    const link = await linkOf(program)
    const { ask } = client(link)
    const { run } = (await (await ask('source')).json()) as SourceInfo & { run: RunFacts }
    expect(run.violation).toMatchObject({ law: 'no order is placed twice', world: 'shop' })
    expect(run.laws).toContainEqual(expect.objectContaining({ name: 'no order is placed twice', broken: true }))
    expect(run.faults.length).toBeGreaterThan(0)
    expect(run.canShrink).toBe(true)
    let copied: string
    {
      await using opened = await openPage(link)
      const { page } = opened
      await page.waitForURL((url) => url.hash.includes(`tick=${run.violation?.tick}`))
      await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Laws' }).click()
      await page.getByRole('button', { name: 'Shrink' }).click()
      const shrunk = page.getByRole('region', { name: 'Shrunk case' })
      await shrunk.waitFor({ timeout: 60_000 })
      const enough = await shrunk.getByRole('listitem').count()
      expect(enough).toBeGreaterThan(0)
      expect(enough).toBeLessThanOrEqual(run.faults.length)
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
      await page.getByRole('button', { name: 'Copy test' }).click()
      await page.getByText('copied', { exact: true }).waitFor()
      copied = await page.evaluate<string>('navigator.clipboard.readText()')
    }
    program.child.kill('SIGINT')
    await program.ended
    await failsAsTest(copied, at)
  })

  it('shows the last committed tick of a killed writer, and marks what was in flight as unknown', async () => {
    const at = await folder()
    const writer = new Program(['ask', '--json', '--data', 'runs'], { in: at })
    await writer.until(({ type }) => type === 'tool-called')
    writer.child.kill('SIGKILL')
    await writer.ended
    const store = sqliteStore({ folder: join(at, 'runs') })
    const found = (await store.list()).find(({ name }) => name === 'ask-1')
    await store.close()
    expect(found).toMatchObject({ isBusy: true })
    const program = new Program(['inspect', 'runs', 'ask-1'], { in: at })
    {
      await using opened = await openPage(await linkOf(program))
      const { page } = opened
      await page
        .getByText(`Tick ${found?.tick} is the last that it committed; whether this has happened is unknown`)
        .waitFor()
      await page.getByRole('row', { name: /ask-1.*unknown since the program ended/ }).waitFor()
    }
    program.child.kill('SIGINT')
    expect((await program.ended).code).toBe(0)
  })

  it('is served by a run of the lead too, while that lasts', async () => {
    const at = await folder()
    const program = new Program(['ask', '--inspect', '--data', 'runs'], { in: at })
    const link = await linkOf(program, 'stderr')
    {
      await using opened = await openPage(link)
      await opened.page.getByRole('row', { name: /README\.md/ }).waitFor()
    }
    program.child.kill('SIGINT')
    await program.ended
    await expect(fetch(link)).rejects.toThrow('fetch failed')
  })

  it('says what is wrong with what it is given, and how to mend it', async () => {
    const at = await folder()
    const store = sqliteStore({ folder: at })
    await (await finishedRun('walk', 2, store)).stop()
    await store.close()
    const lines = ['{"entiaRecording":9}', '{"entiaRecording":2,"root":"a","worlds":["a"]}\n{"world":"a"}', 'Dear all,']
    for (const [index, text] of lines.entries()) await writeFile(join(at, `${index}.jsonl`), `${text}\n`)
    const given: readonly (readonly [number, readonly string[], string])[] = [
      [2, [], 'needs what to open'],
      [2, ['nowhere'], 'There is no file or folder nowhere here'],
      [1, ['.', 'wolk'], "There is no world 'wolk' in .. Did you mean 'walk'?"],
      [2, ['.', 'walk', '--tick', 'x'], '--tick must be an integer'],
      [
        2,
        ['.', 'walk', '--tick', '999'],
        "World 'walk' has no tick 999: its newest is 6. Name an earlier one with --tick.",
      ],
      [2, ['.', '--port', '70000'], '--port must be at most 65535'],
      [2, ['.', '--out', '.'], '--out must be another folder'],
      [2, ['--database', 'mysql://x'], '--database must be postgres://'],
      [1, ['0.jsonl'], 'has format 9 of recordings, this version reads up to 3. Update entia.'],
      [1, ['1.jsonl'], 'line 2: expected the head of world'],
      [2, ['2.jsonl'], 'is no recording'],
      [2, ['--frob'], 'There is no option --frob'],
    ]
    for (const [code, args, text] of given) {
      const refused = await refusal(args, at)
      expect(refused.text, args.join(' ')).toContain(text)
      expect(refused.code, args.join(' ')).toBe(code)
    }
  })
})

describe('the page of a store', { timeout: 120_000 }, () => {
  it('says what is damaged, and shows a component that no one knows as it is', async () => {
    const place = await folder()
    const { defineComponent } = await import('../../../src/index.ts')
    const { z } = await import('zod')
    const Mood = defineComponent('Mood', z.strictObject({ calm: z.boolean() }))
    const store = sqliteStore({ folder: place })
    const world = new World({ name: 'odd', seed: 1, systems: standardSystems() })
    const it = world.spawn(...agent({ model: 'script/x', messages: 'Hello' }))
    world.add(it, Mood({ calm: true }))
    const runner = new Runner(world, { models: { script: scripted(() => 'Good.') }, store, record: true })
    await runner.start()
    await runner.idle()
    await runner.stop()
    await (await finishedRun('walk', 2, store)).stop()
    await (await finishedRun('late', 2, store)).stop()
    await store.close()
    await damage(
      join(place, 'walk.sqlite'),
      "UPDATE rows SET line = replace(line, 'is there', 'is gone') WHERE tick = 3",
    )
    await damage(join(place, 'late.sqlite'), `UPDATE snapshots SET line = replace(line, '"entia":1', '"entia":9')`)
    const program = new Program(['inspect', '.', 'odd'], { in: place })
    const link = await linkOf(program)
    {
      await using opened = await openPage(link.replace('#', '#view=world&entity=1&'))
      await opened.page.getByRole('heading', { name: 'Mood' }).waitFor()
      await opened.page.getByText('true', { exact: true }).first().waitFor()
    }
    const at: readonly (readonly [string, RegExp])[] = [
      [
        'world=walk',
        /The journal is damaged.*world 'walk', tick 3: the line does not follow from the lines before it/s,
      ],
      ['world=late', /A newer version wrote this.*format 9, this version reads up to 1. Update entia/s],
      ['world=odd&tick=999', /World 'odd' has no tick 999: its newest is \d+. Go to an earlier tick/],
      ['world=nobody', /There is no such world.*There is no world 'nobody' in \.\. Choose another one/s],
    ]
    for (const [address, text] of at) {
      await using opened = await openPage(link.replace(/#.*(?=token)/, `#${address}&`), { isRefused: true })
      const alert = opened.page.getByRole('alert')
      await alert.waitFor()
      expect(await alert.innerText(), address).toMatch(text)
    }
    program.child.kill('SIGINT')
    await program.ended
  })
})

/** Changes what was written, as an editor or a bad disk would. */
async function damage(file: string, change: string): Promise<void> {
  const { DatabaseSync } = await import('node:sqlite')
  const database = new DatabaseSync(file)
  expect(Number(database.prepare(change).run().changes)).toBeGreaterThan(0)
  database.close()
}

/** The copied test, with the options of the story in it, fails as the seed did. */
async function failsAsTest(test: string, at: string): Promise<void> {
  const simulator = join(import.meta.dirname, '../../../src/sim/index.ts')
  const whole = test
    .replace("from 'entia/sim'", `from ${JSON.stringify(simulator)}`)
    .replace("import { expect, it } from 'vitest'", `import story from ${JSON.stringify(story)}`)
    .replace(/\/\/ Here go your own options:.*/, '...story,')
    .replace(/^it\((.*?), async \(\) => \{/m, 'const run = async () => {')
    .replace(
      /expect\(result\.violation\)[^]*$/,
      'return result\n}\nconst { violation } = await run()\nconsole.log(violation?.law)\n',
    )
  const file = join(at, 'pasted.ts')
  await writeFile(file, whole)
  const { execFile } = await import('node:child_process')
  const { promisify } = await import('node:util')
  const { stdout } = await promisify(execFile)(process.execPath, ['--conditions=entia-source', file], {
    cwd: join(import.meta.dirname, '../../..'),
  })
  expect(stdout.trim()).toBe('no order is placed twice')
}
