import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import type { FleetWorker, WorkerMetrics } from '../../doors/postgres/index.ts'
import { thrownMessage } from '../../base/thrown-message.ts'
import { UsageError } from '../parsed-words.ts'

export interface HealthPlace {
  readonly host: string
  readonly port: number
}

/** Longest wait for the database, in milliseconds. What probes a worker waits no longer either. */
const longestAnswerMs = 3_000

/** `8080`, `0.0.0.0:8080`, `[::]:8080`. @throws UsageError */
export function healthPlace(text: string): HealthPlace {
  const [, host = '127.0.0.1', digits = ''] = /^(?:(.+):)?(\d{1,5})$/.exec(text) ?? []
  const port = digits === '' ? NaN : Number(digits)
  if (port <= 65_535) return { host: host.replace(/^\[(.*)\]$/, '$1'), port }
  throw new UsageError(`--health must be a port, or HOST:PORT, got ${JSON.stringify(text)}.`)
}

/**
 * Serves `/health` (200, or 503 with why the worker drives nothing now) and `/metrics` in the text format of Prometheus.
 * @returns its address, and what ends it
 * @throws UsageError for an address that cannot be had
 */
export async function serveHealth({ host, port }: HealthPlace, worker: FleetWorker) {
  const server = createServer((request, response) => {
    const [path = ''] = (request.url ?? '').split('?')
    if (request.method !== 'GET' && request.method !== 'HEAD') return answer(response, 405, 'text/plain', 'Only GET.\n')
    if (path === '/health') return void answerHealth(response, worker)
    if (path === '/metrics') return void answerMetrics(response, worker)
    return answer(response, 404, 'text/plain', 'There are /health and /metrics.\n')
  })
  try {
    server.listen(port, host)
    await once(server, 'listening')
  } catch (error) {
    throw new UsageError(`--health: ${host}:${port} cannot be had: ${thrownMessage(error)}.`)
  }
  return { address: addressOf(server), close: () => closed(server) }
}

async function answerHealth(response: ServerResponse, worker: FleetWorker): Promise<void> {
  const { id } = worker
  const late = `The database has not answered for ${longestAnswerMs / 1_000} s.`
  const problem = await soon(worker.problem(), late)
  const body = {
    isAlive: problem === undefined,
    worker: id,
    ...worker.holds,
    ...(problem !== undefined && { problem }),
  }
  answer(response, problem === undefined ? 200 : 503, 'application/json', `${JSON.stringify(body)}\n`)
}

async function answerMetrics(response: ServerResponse, worker: FleetWorker): Promise<void> {
  const metrics = await soon(
    worker.metrics().catch(() => undefined),
    undefined,
  )
  if (metrics === undefined) return answer(response, 503, 'text/plain', 'The database does not answer now.\n')
  answer(response, 200, 'text/plain; version=0.0.4; charset=utf-8', metricsText(metrics))
}

/** In the text format of Prometheus. */
export function metricsText(metrics: WorkerMetrics): string {
  const { commits, fenced, oldestLetterMs, recovered } = metrics
  const gauges: readonly (readonly [name: string, help: string, value: number])[] = [
    ['worlds_held', 'Root worlds that this worker holds.', metrics.worldsHeld],
    ['sessions_held', 'Sessions that this worker holds.', metrics.sessionsHeld],
    ['sessions_running', 'Sessions of the fleet that have a slot.', metrics.sessionsRunning],
    ['sessions_waiting', 'Sessions of the fleet in line for a slot.', metrics.sessionsWaiting],
    ['letters_waiting', 'Letters of the fleet that wait for their worlds.', metrics.lettersWaiting],
    ['oldest_letter_seconds', 'For how long the oldest letter has waited.', oldestLetterMs / 1_000],
    ['workers_alive', 'Workers of the fleet that are alive.', metrics.workersAlive],
    [
      'worlds_quarantined',
      'Worlds of the fleet that nobody drives until they are released.',
      metrics.worldsQuarantined,
    ],
  ]
  const counters: typeof gauges = [
    ['commits_total', 'Commits of worlds that this worker has written.', commits],
    ['fenced_total', 'Worlds and sessions that were taken from this worker.', fenced],
    ['recovered_total', 'Worlds and sessions that this worker took over from dead ones.', recovered],
  ]
  const lines = (type: string, rows: typeof gauges): string[] =>
    rows.map(
      ([name, help, value]) => `# HELP entia_${name} ${help}\n# TYPE entia_${name} ${type}\nentia_${name} ${value}\n`,
    )
  return [...lines('gauge', gauges), ...lines('counter', counters)].join('')
}

async function soon<T, Late>(coming: Promise<T>, late: Late): Promise<T | Late> {
  const end = new AbortController()
  const timer = new Promise<Late>((resolve) => {
    const timeout = setTimeout(() => resolve(late), longestAnswerMs)
    end.signal.addEventListener('abort', () => clearTimeout(timeout))
  })
  try {
    return await Promise.race([coming, timer])
  } finally {
    end.abort()
  }
}

function answer(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body)
}

function addressOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

async function closed(server: Server): Promise<void> {
  server.close()
  server.closeAllConnections()
  await once(server, 'close')
}
