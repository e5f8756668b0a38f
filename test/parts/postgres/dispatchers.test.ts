import { inject, onTestFinished } from 'vitest'
import { describeDispatchers } from '../../contracts/dispatcher-suite.ts'
import { root } from '../../contracts/dispatcher-seat.ts'
import { SeatProcess } from './seat-process.ts'
import { newSchema, storeIn } from './stores.ts'

const longMs = 60_000
const shortMs = 1_000

describeDispatchers([
  {
    name: 'postgresDispatcher',
    make: async ({ cap, hasShortLease = false }) => {
      const schema = newSchema()
      const { epoch } = await storeIn(schema).open(root)
      return {
        epoch,
        worker: async () => {
          const leaseMs = hasShortLease ? shortMs : longMs
          const seat = await SeatProcess.start({ database: inject('postgres'), schema, leaseMs, cap })
          onTestFinished(() => seat.end())
          return seat.worker
        },
      }
    },
  },
])
