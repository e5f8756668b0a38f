import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { builtinTools, JsProcesses } from 'entia/runtime'
import { agent, ask, type Json, Runner, scripted, standardSystems, type ToolContext, World } from 'entia'
import { Workspace } from 'entia/components'
import { describe, expect, it, onTestFinished } from 'vitest'
import { tempFolder } from '../../tools/temp-folder.ts'
import { HandlesInMemory } from '../../runtime/tools/handles-in-memory.ts'
import { toolsIn } from '../../runtime/tools/tools-in.ts'

const restarted = '[workspace restarted: earlier values are gone]'

type Run = (code: string, input?: Readonly<Record<string, Json>>, changes?: Partial<ToolContext>) => Promise<string>

/** `run_js` of an agent, in a folder with these files. */
async function workspace(files: Readonly<Record<string, string>> = {}, env?: NodeJS.ProcessEnv): Promise<Run> {
  const js = new JsProcesses()
  onTestFinished(() => js.close())
  const call = toolsIn(await tempFolder(files), { js, env })
  return (code, input, changes) => call('run_js', { code, ...input }, changes)
}

/** Is there a process with this id that has not ended? */
async function isRunning(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => undefined)
  return stat !== undefined && !/\) Z /.test(stat)
}

/** A process id that a process has written to a file. */
async function pidIn(path: string): Promise<number> {
  const text = (): Promise<string> => readFile(path, 'utf8').catch(() => '')
  await expect.poll(text, { timeout: 20_000 }).toMatch(/^\d+\n$/)
  return Number(await text())
}

const packageOf = (name: string, text: string): Readonly<Record<string, string>> => ({
  [`node_modules/${name}/package.json`]: JSON.stringify({ name, main: 'index.js' }),
  [`node_modules/${name}/index.js`]: text,
})

describe('run_js', { timeout: 30_000 }, () => {
  it('keeps variables, which may be declared again', async () => {
    const run = await workspace()
    await run('const a = 1')
    await run('const a = 2; globalThis.m = new Map([[1, a]])')
    expect(await run('m.get(1)')).toBe('2')
    await run('let b = 1; class C { x = 1 }; function f() { return g() }\nfunction g() { return b }')
    expect(await run('const b = f() + 1; class C { x = 5 }; [b, new C().x]')).toBe('[ 2, 5 ]')
    expect(await run('const f = 6; let C = 7; var v = 8; [f, C, v, typeof g]')).toBe("[ 6, 7, 8, 'function' ]")
    expect(await run('const v = 9; for (var i = 0; i < 3; i++); [v, i]')).toBe('[ 9, 3 ]')
    expect(await run('var v = 1; var v = v + 1; v')).toMatch(
      /^Uncaught SyntaxError: Identifier 'v' has already been declared/,
    )
  })

  it('awaits at the top level, and resolves import, import() and require from the working folder', async () => {
    const run = await workspace({
      ...packageOf('pkg', 'exports.one = 1; exports.two = 2'),
      'data.json': '{"n":3}',
      'own.mjs': 'export default 4',
    })
    expect(await run("await Promise.resolve(require('pkg').one)")).toBe('1')
    expect(await run("(await import('pkg')).two")).toBe('2')
    const code =
      "import own from './own.mjs'\nimport pkg, { one as first } from 'pkg'\nimport * as path from 'node:path'"
    expect(await run(`${code}\n[own, pkg.two, first, typeof path.join]`)).toBe("[ 4, 2, 1, 'function' ]")
    expect(await run("import data from './data.json' with { type: 'json' }\ndata")).toBe('{ n: 3 }')
    expect(await run("await import('missing')")).toMatch(/^Uncaught Error.*Cannot find package 'missing'/)
  })

  it('gives what is printed, in order, and then the value', async () => {
    const run = await workspace()
    const code = "console.log('a'); console.error('b'); process.stdout.write('c\\n'); process.stderr.write('d\\n');"
    expect(await run(`${code} require('child_process').execSync('echo e; echo f >&2', { stdio: 'inherit' }); 7`)).toBe(
      'a\nb\nc\nd\ne\nf\n7',
    )
    expect(await run("console.log('only this')")).toBe('only this')
    expect(await run('let x = 1')).toBe('undefined')
    expect(await run(String.raw`'a\nb'`)).toBe('a\nb')
    expect(await run("'ab'")).toBe("'ab'")
    expect(await run('({ get x() { console.log("asked") } })')).toBe('{ x: [Getter] }')
  })

  it('keeps its values when code throws, and says where', async () => {
    const run = await workspace()
    expect(await run("let kept = 1\nfunction f() {\n  throw new TypeError('bad')\n}\nf()")).toBe(
      'Uncaught TypeError: bad\n    at f (run_js:3:9)\n    at run_js:5:1',
    )
    expect(await run('1 +\n  * 2')).toBe("Uncaught SyntaxError: Unexpected token '*'\n    at run_js:2:3")
    expect(await run('let k = kept; throw new Error(k)')).toBe('Uncaught Error: 1\n    at run_js:1:21')
    expect(await run('console.log(1); throw null')).toBe('1\nUncaught null')
    expect(await run('kept')).toBe('1')
  })

  it('says so when code has replaced what showing a value needs', async () => {
    const run = await workspace()
    expect(await run('JSON.stringify = 1; Reflect.ownKeys = 2; ({ a: 1 })')).toBe('Object [cannot be shown]')
    expect(await run('Promise = 1; delete globalThis.process; 6')).toMatch(/^6( \[cannot be shown\])?$/)
  })

  it('outlives errors in timers and rejections that are not handled, and shows them', async () => {
    const run = await workspace()
    const code = "Promise.reject(new Error('lost')); setTimeout(() => { throw new Error('late') }, 1)"
    const text = await run(`let a = 1; ${code}; await new Promise((resolve) => setTimeout(resolve, 20))`)
    expect(text).toMatch(/^Uncaught Error: lost\n[^]*Uncaught Error: late\n/)
    expect(await run('a')).toBe('1')
  })

  it('that ends its process is an error, and the next call finds a fresh one and says so', async () => {
    const run = await workspace()
    await run('globalThis.a = 1')
    expect(await run('while (true) {}', { timeoutMs: 300 })).toBe(
      '[timed out after 300 ms; the values of this workspace are gone]',
    )
    expect(await run('globalThis.a ??= 2')).toBe(`${restarted}\n2`)
    expect(await run('globalThis.a')).toBe('2')
    const ends = {
      'await new Promise(() => {})': 'timed out after 300 ms',
      'process.exit(3)': 'exited with code 3',
      "process.kill(process.pid, 'SIGKILL')": 'ended by SIGKILL',
    }
    for (const [code, note] of Object.entries(ends)) {
      const text = await run(code, { timeoutMs: 300 })
      expect(text.replace(`${restarted}\n`, '')).toBe(`[${note}; the values of this workspace are gone]`)
    }
    expect(await run('typeof a')).toBe(`${restarted}\n'undefined'`)
  })

  it.each([
    ['on the heap', 'const all = []; while (true) all.push(new Array(1_000).fill(1.5))'],
    ['in buffers', 'const all = []; while (true) all.push(Buffer.alloc(10_000_000, 1))'],
  ])('that takes too much memory %s is ended, and says so', async (_, code) => {
    const run = await workspace()
    await run('let a = 1')
    expect(await run(code)).toBe('[out of memory (256 MB); the values of this workspace are gone]')
    expect(await run('typeof a')).toBe(`${restarted}\n'undefined'`)
  })

  it('says that values are gone when the process has ended between two calls', async () => {
    const run = await workspace()
    const pid = Number(await run('setTimeout(() => process.exit(), 20); process.pid'))
    await expect.poll(() => isRunning(pid), { timeout: 20_000 }).toBe(false)
    expect(await run('1')).toBe(`${restarted}\n1`)
  })

  it('runs code once, whenever the process of the call before ends', async () => {
    const js = new JsProcesses()
    onTestFinished(() => js.close())
    const folder = await tempFolder()
    const call = toolsIn(folder, { js })
    const code = "require('fs').appendFileSync('ran', 'x'); await new Promise((resolve) => setTimeout(resolve, 100)); 1"
    const ended = '[exited with code 0; the values of this workspace are gone]'
    for (const [index, delayMs] of [0, 1, 2, 50].entries()) {
      await call('run_js', { code: `setTimeout(() => process.exit(), ${delayMs})` })
      const text = (await call('run_js', { code })).replace(`${restarted}\n`, '')
      expect(['1', ended]).toContain(text)
      expect(await readFile(join(folder, 'ran'), 'utf8')).toBe('x'.repeat(index + 1))
    }
  })

  it('prints for ever without filling the memory, until its time is over', async () => {
    const handles = new HandlesInMemory()
    const run = await workspace()
    const text = await run("while (true) console.log('0123456789'.repeat(50))", { timeoutMs: 600 }, { handles })
    expect(text).toMatch(/\n\[(timed out after 600 ms|it printed more than 200000000 characters); the values of/)
    expect(text).toMatch(/\[\d+ characters left out; (all of it|the first 10000000 characters): \.h_001\]/)
    expect(text.length).toBeLessThan(31_000)
    expect((handles.values.get('.h_001') as string).length).toBeLessThanOrEqual(10_000_000)
    const long = await run("process.stdout.write('a'.repeat(1_000_000)); 'b'.repeat(60_000)", {}, { handles })
    expect(long).toContain('[970000 characters left out; all of it: .h_002]')
    expect(long).toMatch(/\nb+\n\[\d+ characters left out; all of it: \.h_003\]$/)
    expect(long.length).toBeLessThanOrEqual(50_000)
  })

  it('sees paths and language in its environment, and neither keys nor what else is set', async () => {
    const env = { ...process.env, TAVILY_API_KEY: 's1', ANTHROPIC_API_KEY: 's2', PLAIN: 'x', LC_TIME: 'C' }
    const run = await workspace({}, env)
    const names = (await run('Object.keys(process.env).sort().join()')).slice(1, -1).split(',')
    expect(names).toEqual(expect.arrayContaining(['HOME', 'LC_TIME', 'PATH']))
    expect(names.join()).not.toMatch(/KEY|PLAIN|NODE|VITEST/)
  })

  it('has a process for each agent, whose calls run one after the other', async () => {
    const run = await workspace()
    await run('let a = 1')
    expect(await run('typeof a', {}, { agent: 2 })).toBe("'undefined'")
    expect(await run('typeof a', {}, { world: 'other' })).toBe("'undefined'")
    const slow = run('await new Promise((resolve) => setTimeout(resolve, 50)); a = 2')
    expect(await Promise.all([slow, run('a + 1')])).toEqual(['2', '3'])
  })

  it('that is cancelled rejects with the reason once neither it nor what it started runs', async () => {
    const js = new JsProcesses()
    onTestFinished(() => js.close())
    const folder = await tempFolder()
    const call = toolsIn(folder, { js })
    const stop = new AbortController()
    const code = "require('child_process').spawn('sh', ['-c', 'echo $$ > pid; sleep 1000']); while (true) {}"
    const called = call('run_js', { code }, { signal: stop.signal })
    const waiting = call('run_js', { code: '1' }, { signal: stop.signal })
    const next = call('run_js', { code: '2' })
    const pid = await pidIn(join(folder, 'pid'))
    stop.abort(new Error('enough'))
    const ended = called.catch(() => isRunning(pid))
    await expect(waiting).rejects.toThrow('enough')
    expect(await ended).toBe(false)
    await expect(called).rejects.toThrow('enough')
    expect(await next).toBe(`${restarted}\n2`)
  })

  it('ends with the program that started it, also when that is killed while code loops', async () => {
    const folder = await tempFolder()
    const program = join(import.meta.dirname, '../../programs/js-parent.ts')
    const code = "require('fs').writeFileSync('pid', process.pid + '\\n'); while (true) {}"
    const parent = spawn(process.execPath, [program, folder, code], { stdio: 'ignore' })
    onTestFinished(() => void parent.kill('SIGKILL'))
    const pid = await pidIn(join(folder, 'pid'))
    expect(await isRunning(pid)).toBe(true)
    parent.kill('SIGKILL')
    await expect.poll(() => isRunning(pid), { timeout: 20_000 }).toBe(false)
  })

  it('does not keep the program from ending', async () => {
    const folder = await tempFolder()
    const program = join(import.meta.dirname, '../../programs/js-parent.ts')
    const code = "require('fs').writeFileSync('pid', process.pid + '\\n')"
    const parent = spawn(process.execPath, [program, folder, code], { stdio: 'ignore' })
    expect(await once(parent, 'exit')).toEqual([0, null])
    const pid = await pidIn(join(folder, 'pid'))
    await expect.poll(() => isRunning(pid), { timeout: 20_000 }).toBe(false)
  })

  it('ends when its processes are closed', async () => {
    const js = new JsProcesses()
    const folder = await tempFolder()
    const call = toolsIn(folder, { js })
    const busy = call('run_js', { code: "require('fs').writeFileSync('pid', process.pid + '\\n'); while (true) {}" })
    const pid = await pidIn(join(folder, 'pid'))
    await js.close()
    expect(await busy).toBe('[ended; the values of this workspace are gone]')
    expect(await isRunning(pid)).toBe(false)
    await expect(call('run_js', { code: '1' })).rejects.toThrow('were closed')
  })

  it('refuses a working folder that is not there', async () => {
    const call = toolsIn('/nothing/there')
    expect(await call('run_js', { code: '1' })).toBe('Error: The working folder /nothing/there does not exist.')
  })
})

describe('the values of run_js', { timeout: 30_000 }, () => {
  /** `run_js` of an agent with handles. */
  async function withHandles(): Promise<{ readonly run: Run; readonly handles: HandlesInMemory }> {
    const handles = new HandlesInMemory()
    const run = await workspace()
    return { handles, run: (code, input) => run(code, input, { handles }) }
  }

  it('are shown up to a list of 50 numbers; one of 51 is stored under a handle', async () => {
    const { run, handles } = await withHandles()
    const shown = await run('Array.from({ length: 50 }, (_, index) => index)')
    expect(shown).toContain('48, 49')
    expect(handles.list()).toEqual([])
    expect(await run('Array.from({ length: 51 }, (_, index) => index)')).toBe(
      'list of 51 numbers: 0, 1, 2, 3, 4, 5, 6, 7, …\n[stored as .h_001]',
    )
    expect(handles.values.get('.h_001')).toHaveLength(51)
  })

  it('are given back by h, also in a fresh process', async () => {
    const { run } = await withHandles()
    await run('const rows = Array.from({ length: 20 }, (_, id) => ({ id })); rows')
    await run('process.exit()')
    expect(await run("const name = '.h_' + '001'; h(name).length + h(name)[19].id")).toBe(`${restarted}\n39`)
    expect(await run("h('.h_002')")).toMatch(/^Uncaught Error: There is no handle \.h_002\. There are \.h_001\.\n/)
  })

  it('that are no JSON live in the process, and are lost with it', async () => {
    const { run, handles } = await withHandles()
    expect(await run('new Map([[1, 2]])')).toBe('Map(1) { 1 => 2 }')
    expect(await run('const m = new Map(Array.from({ length: 60 }, (_, index) => [index, index])); m')).toBe(
      'Map of 60\n[stored as .h_001]',
    )
    expect(handles.list()).toEqual([{ handle: '.h_001', shape: 'Map of 60', isLive: true }])
    expect(await run("h('.h_001') === m")).toBe('true')
    await run('process.exit()')
    expect(await run("h('.h_001')")).toMatch(/Error: \.h_001 is lost: the process that had its value has ended\.\n/)
  })

  it('that returnName names are stored without a getter being asked', async () => {
    const { run, handles } = await withHandles()
    expect(await run('const x = new Array(3).fill(1); "done"', { returnName: 'x' })).toBe("'done'\n[stored as .h_001]")
    expect(handles.values.get('.h_001')).toEqual([1, 1, 1])
    expect(await run('let f = () => 1; 2', { returnName: 'f' })).toBe('2\n[stored as .h_002]')
    expect(await run("h('.h_002')()", { returnName: '.h_002' })).toBe('1\n[stored as .h_002]')
    const getter = 'Object.defineProperty(globalThis, "g", { get() { console.log("asked") } }); 3'
    expect(await run(getter, { returnName: 'g' })).toBe('3\n[returnName "g": it is a getter]')
    expect(await run('4', { returnName: 'x.y' })).toBe(
      '4\n[returnName "x.y": it must be one name or one handle, such as .h_001]',
    )
    expect(await run('5', { returnName: 'y' })).toBe('5\n[returnName "y": there is no such name]')
    expect(await run('let u; 6', { returnName: 'u' })).toBe('6\n[returnName "u": it is undefined]')
    expect(await run('7', { returnName: '.h_009' })).toBe('7\n[returnName ".h_009": there is no such handle]')
  })

  it('are those of an agent in a World: read_handle reads them', async () => {
    const js = new JsProcesses()
    onTestFinished(() => js.close())
    const tools = builtinTools({ cwd: await tempFolder(), tools: ['run_js', 'read_handle'], js })
    const steps = [
      { name: 'run_js', arguments: { code: 'let all = Array.from({ length: 51 }, (_, index) => index); all' } },
      { name: 'read_handle', arguments: { handle: '.h_001', op: 'head' } },
      { name: 'read_handle', arguments: { handle: '.h_009' } },
      { name: 'run_js', arguments: { code: "h('.h_001').length + all.length" } },
    ]
    const model = scripted(({ messages }) => {
      const step = steps[messages.filter(({ role }) => role === 'tool').length]
      return step === undefined ? 'Done.' : { toolCalls: [step] }
    })
    const world = new World({ systems: standardSystems() })
    const agentEntity = world.spawn(...agent({ model: 'script/x', tools }), Workspace)
    const runner = new Runner(world, { models: { script: model }, tools })
    onTestFinished(() => runner.stop())
    await runner.start()
    const results: string[] = []
    for await (const part of ask(runner, agentEntity, 'Count.').parts)
      if (part.type === 'tool-result') results.push(part.result.map((one) => ('text' in one ? one.text : '')).join(''))
    expect(results[0]).toBe('list of 51 numbers: 0, 1, 2, 3, 4, 5, 6, 7, …\n[stored as .h_001]')
    expect(results[1]?.split('\n').filter((line) => /^\d+$/.test(line))).toHaveLength(20)
    expect(results[2]).toMatch(/^Error: there is no handle \.h_009\. There are:\n\.h_001 list of 51 numbers/)
    expect(results[3]).toBe('102')
  })

  it('that would not be the same as JSON are not taken for it', async () => {
    const { run, handles } = await withHandles()
    const values = [
      '{ a: undefined }',
      '{ get a() { return 1 } }',
      '[, 1]',
      'new (class A {})()',
      '{ [Symbol()]: 1 }',
      'NaN',
    ]
    for (const value of values) expect(await run(`let v = ${value}; 1`, { returnName: 'v' })).toMatch(/stored as/)
    expect(handles.values.size).toBe(0)
    await run('const round = {}; round.round = round', { returnName: 'round' })
    await run('let deep = 1; for (let i = 0; i < 10_000; i++) deep = [deep]; 1', { returnName: 'deep' })
    expect(handles.values.size).toBe(0)
  })
})
