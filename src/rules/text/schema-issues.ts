import type { z } from 'zod'
import { valuePath } from './value-path.ts'

/** How many issues are told; a model that got more wrong than this starts over anyway. */
const maxIssues = 10

type Issue = z.core.$ZodIssue

/** What a schema found wrong, precise enough to mend it: `<field>: <reason>; <field>: <reason>`. */
export function schemaIssues(error: z.core.$ZodError): string {
  const issues = error.issues.flatMap(describe)
  const told = issues.slice(0, maxIssues).join('; ')
  return issues.length > maxIssues ? `${told}; and ${issues.length - maxIssues} more` : told
}

function describe(issue: Issue): string[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => `${valuePath([...issue.path, key])}: no such field is known`)
  }
  const field = valuePath(issue.path)
  return [field === '' ? reason(issue) : `${field}: ${reason(issue)}`]
}

function reason(issue: Issue): string {
  const branches = issue.code === 'invalid_union' ? issue.errors.filter((branch) => branch.length > 0) : []
  if (branches.length > 0) return branches.map((branch) => branch.flatMap(describe).join(', ')).join(', or ')
  return issue.message.replace(/^Invalid input: /, '')
}
