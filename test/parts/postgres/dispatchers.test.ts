import { describeDispatchers } from '../../contracts/dispatcher-suite.ts'
import { seatsOver } from './seat-process.ts'

describeDispatchers([
  { name: 'postgresDispatcher', make: (options) => seatsOver({ ...options, dispatcher: 'postgres' }) },
])
