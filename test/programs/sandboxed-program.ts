import { join } from 'node:path'
import { builtinTools, BackgroundShells } from 'entia/runtime'
import { SessionSandbox } from '../../src/runtime/sandbox/session-sandbox.ts'
import { callTool, textOf } from '../tools/calling.ts'
import { processesWith } from '../tools/running-processes.ts'

// Runs a command in a sandbox, in the background, says where that is, and ends.
const [, , cwd = '', sleep = '', how = ''] = process.argv
const folders = { config: join(cwd, 'c'), data: join(cwd, 'd'), cache: join(cwd, 'e'), state: join(cwd, 'f') }
const allowedDomains = ['example.com']
const sandbox = await SessionSandbox.open({ mode: 'require', cwd, home: cwd, folders, config: {}, allowedDomains })
const shells = new BackgroundShells()
const tools = builtinTools({ cwd, sandbox, shells, tools: ['code'] })
const bash = tools.find(({ declaration }) => declaration.name === 'bash')
if (bash === undefined) throw new Error('There is no bash.')
const command = `echo "$TMPDIR"; ${sleep} & setsid ${sleep}`
const folder = textOf(await callTool(bash, { command, background: true })).split('\n')[0] ?? ''
const host = processesWith('host-program.ts').find((pid) => isOwn(pid))
process.stdout.write(JSON.stringify({ folder, host: Number(host) }))
if (how === 'is killed') setInterval(() => {}, 1_000)
if (how === 'closes its sandbox') {
  await shells.close()
  await sandbox.close()
}
if (how === 'ends without') process.exit()

function isOwn(pid: string): boolean {
  const stat = process.getBuiltinModule('node:fs').readFileSync(`/proc/${pid}/stat`, 'latin1')
  return stat.slice(stat.lastIndexOf(')')).split(' ')[2] === String(process.pid)
}
