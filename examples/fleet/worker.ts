import fleet from './support-desk.ts'

// What `entia worker` does: drives worlds that are due, until it is told to end. It may also just die.

const worker = await fleet.work()
process.send?.(worker.id)
process.once('SIGTERM', () => {
  // What it holds goes on in other workers.
  void fleet.close().then(() => process.exit())
})
