import type { z } from 'zod'

/** Path and reason; for a union, the reasons of each form. */
export function issueText(issue: z.core.$ZodIssue): string {
  const at = issue.path.length === 0 ? '' : ` at ${issue.path.join('.')}`
  return `${at}: ${reason(issue)}`
}

function reason(issue: z.core.$ZodIssue): string {
  const forms = issue.code === 'invalid_union' ? issue.errors.filter((issues) => issues.length > 0) : []
  if (forms.length === 0) return issue.message
  return forms.map((issues) => issues.map(inForm).join(', ')).join(', or ')
}

function inForm(issue: z.core.$ZodIssue): string {
  return issue.path.length === 0 ? reason(issue) : `${issue.path.join('.')}: ${reason(issue)}`
}
