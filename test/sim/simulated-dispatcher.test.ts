import { memoryStore } from 'entia'
import { describeDispatchers } from '../contracts/dispatcher-suite.ts'
import { seatOver } from '../contracts/dispatcher-seat.ts'
import { SimulatedBoard } from '../../src/sim/fleet/simulated-board.ts'

describeDispatchers([
  {
    name: 'a simulated board',
    make: async ({ cap }) => {
      const epoch = 1
      const board = new SimulatedBoard({
        store: memoryStore(),
        cap,
        date: () => 0,
        isHeld: (_, held) => held === epoch,
      })
      let workers = 0
      return {
        epoch,
        worker: async () => {
          const name = `worker ${++workers}`
          return {
            ...seatOver(board.of(name)),
            kill: async () => board.suspect(name),
            hang: async () => board.suspect(name),
            wake: async () => board.beat(name),
          }
        },
      }
    },
  },
])
