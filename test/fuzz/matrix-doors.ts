import { scripted, VirtualClock } from 'entia'
import { matrixConfigure, matrixPoll, matrixRun, matrixSend, matrixSessions } from 'entia/matrix'
import { type Door, unless } from './doors.ts'

/** A folder that is not there. */
const nowhere = '/nowhere'
const env = () => ({ HOME: nowhere, ENTIA_CONFIG_DIR: nowhere, ENTIA_DATA_DIR: nowhere })
const ignore = (): void => undefined
const sessionOptions = () => ({
  system: 'Be brief.',
  provider: 'script',
  model: 'm',
  tools: ['file'],
  cwd: nowhere,
  host: { clock: new VirtualClock(), models: { script: scripted(() => 'Done.') } },
  verbose: false,
  env: env(),
  onNotice: ignore,
})

/** What `entia/matrix` gives to programs. None of it writes to the disk. */
export const matrix: Readonly<Record<string, Door>> = {
  matrixConfigure: {
    args: () => [
      {
        ...{ server: 'http://127.0.0.1:9', user: 'clerk', password: 'secret', room: '#shop:local' },
        ...{ users: ['@ada:local'], approvers: ['@ada:local'], autoApproveAsks: false, storePassword: true },
        ...{ provider: 'script', model: 'm', tools: ['file'], env: env() },
      },
    ],
    // Always on a virtual clock: it waits between its tries.
    use: (options: Parameters<typeof matrixConfigure>[0]) =>
      unless('matrix-failed', matrixConfigure({ ...options, clock: new VirtualClock() })),
  },
  matrixPoll: {
    args: () => [{ ...sessionOptions(), timeoutMs: 0 }],
    use: (options: object) => unless('matrix-not-configured', matrixPoll(options)),
  },
  matrixRun: {
    args: () => [{ ...sessionOptions(), timeoutMs: 0, sink: ignore, signal: AbortSignal.abort() }],
    use: (options: object) => unless('matrix-not-configured', matrixRun(options)),
  },
  matrixSend: {
    args: () => [
      'Hello.',
      { roomId: '!shop:local', msgtype: 'm.text', env: env(), clock: new VirtualClock(), onNotice: ignore },
    ],
    use: (text: string, options: object) => unless('matrix-not-configured', matrixSend(text, options)),
  },
  matrixSessions: {
    args: () => [sessionOptions()],
    use: async (options: object) => {
      const sessions = matrixSessions(options)
      await sessions.list()
      await sessions.close()
    },
  },
}
