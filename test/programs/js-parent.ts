// Runs code in a process of `run_js`, until it is killed. Usage: js-parent.ts <working folder> <code>
import { builtinTools } from 'entia/runtime'

const [, , cwd = '.', code = ''] = process.argv
const [runJs] = builtinTools({ cwd, tools: ['run_js'] })
const signal = new AbortController().signal
const sleep = (): Promise<void> => Promise.reject(new Error('nothing sleeps here'))
const context = {
  signal,
  key: 'key',
  attempt: 1,
  agent: 1,
  world: 'world',
  progress: () => {},
  sleep,
  post: sleep,
  message: sleep,
}
console.log(JSON.stringify(await runJs?.call({ code }, context)))
