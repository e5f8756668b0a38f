import { describeLetters } from '../../contracts/letters-suite.ts'
import { describeReading } from '../../contracts/reading-suite.ts'
import { describeStores } from '../../contracts/stores-suite.ts'
import { describeTranscripts } from '../../contracts/transcripts-suite.ts'
import { newSchema, storeIn } from './stores.ts'

const places = [{ name: 'postgres', make: () => storeIn(newSchema()) }]

describeStores(places)
describeTranscripts(places)
describeLetters(places)
describeReading([
  {
    name: 'postgres',
    make: () => {
      const schema = newSchema()
      return [storeIn(schema), storeIn(schema)] as const
    },
  },
])
