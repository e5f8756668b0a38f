/** Microseconds of processor time that this process has had: what else the machine does is not in it. */
export function processorUs(): number {
  const { system, user } = process.cpuUsage()
  return user + system
}
