import { z } from 'zod'
import { defineComponent } from '../../src/world/component.ts'
import { entity } from '../../src/protocol/entity.ts'
import { SessionUsage } from './subagent-session.ts'

/**
 * What a session has reported of its spending before its record holds it, and its agent's ledger holds already. On the
 * session.
 */
export const ReportedUsage = defineComponent(
  'ReportedUsage',
  () => z.strictObject({ agent: entity(), usage: SessionUsage() }),
  { ref: 'agent' },
)
