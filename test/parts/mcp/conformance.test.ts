import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it, onTestFinished } from 'vitest'

const root = join(import.meta.dirname, '../../..')
const suite = join(root, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')

const noTasks = 'an extension, and of the SDK: tools of Entia end with their call'

/** Scenarios that fail, and why. One that is not in its list, or passes although it is, fails the test. */
const failing: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '2025-11-25': {
    'json-schema-2020-12':
      'not required: the suite wants if, then and else in a schema, which defineTool does not take',
  },
  '2026-07-28': {
    'json-schema-2020-12':
      'not required: the suite wants if, then and else in a schema, which defineTool does not take',
    'http-custom-header-server-validation': 'not required: no tool of Entia takes arguments from headers',
    'tasks-lifecycle': noTasks,
    'tasks-capability-negotiation': noTasks,
    'tasks-wire-fields': noTasks,
    'tasks-request-state-removal': noTasks,
    'tasks-mrtr-input': noTasks,
    'tasks-request-headers': noTasks,
    'tasks-dispatch-and-envelope': noTasks,
    'tasks-required-task-error': noTasks,
    'tasks-mrtr-composition': noTasks,
  },
}

/** How many scenarios a revision requires of servers. */
const required: Readonly<Record<string, number>> = { '2025-11-25': 30, '2026-07-28': 37 }

/** A server in a process of its own. */
async function everythingServer(cwd: string): Promise<string> {
  const program = ['--conditions=entia-source', join(import.meta.dirname, 'everything-server.ts')]
  const folders = Object.fromEntries(['CONFIG', 'DATA', 'STATE', 'CACHE'].map((name) => [`ENTIA_${name}_DIR`, cwd]))
  const child = spawn(process.execPath, program, { cwd, env: { HOME: cwd, PATH: process.env['PATH'], ...folders } })
  onTestFinished(() => void child.kill('SIGKILL'))
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const [url] = (await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    once(child, 'exit').then(() => Promise.reject(new Error(stderr))),
  ])) as [string]
  return url
}

describe.for(Object.keys(failing))('the conformance suite for servers of %s', (revision) => {
  it('passes, but for what is listed', { timeout: 120_000 }, async () => {
    const cwd = await mkdtemp(join(tmpdir(), 'entia-conformance-'))
    onTestFinished(() => rm(cwd, { recursive: true, force: true }))
    const url = await everythingServer(cwd)
    const words = [suite, 'server', '--url', url, '--requirements', revision]
    const printed = await new Promise<string>((resolve) => {
      // Its exit code counts scenarios that are not required, too.
      execFile(process.execPath, words, { cwd, maxBuffer: 2 ** 26 }, (_, stdout) => resolve(stdout))
    })
    const ends = [...printed.matchAll(/^([✓✗]) ([\w-]+): (\d+) passed, (\d+) failed$/gm)]
    const failed = ends.flatMap(([, mark, name = '']) => (mark === '✗' ? [name] : []))
    expect(failed.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(
      Object.keys(failing[revision] ?? {}).toSorted((a, b) => (a < b ? -1 : 1)),
    )
    const [, notRequired] = /^Not scored for \S+: (\d+) scenario/m.exec(printed) ?? []
    expect(ends.length - Number(notRequired)).toBe(required[revision])
  })
})
