import type { FailureKind } from '../protocol/failure.ts'

/** Codes more specific than their status. */
export const kindOfName: Readonly<Record<string, FailureKind>> = {
  context_length_exceeded: 'context-overflow',
  exceed_context_size_error: 'context-overflow',
  model_max_prompt_tokens_exceeded: 'context-overflow',
  request_too_large: 'context-overflow',
  // Sent as 429, but retrying does not help: the user must act.
  insufficient_quota: 'unauthorized',
  exceeded_current_quota_error: 'unauthorized',
  billing_error: 'unauthorized',
  arrearage: 'unauthorized',
  contract_spend_limit_reached: 'unauthorized',
  enforced_spend_limit_reached: 'unauthorized',
  invalid_api_key: 'unauthorized',
  bio_policy: 'refused',
  content_filter: 'refused',
  content_policy_violation: 'refused',
  moderation_blocked: 'refused',
  responsibleaipolicyviolation: 'refused',
  image_content_policy_violation: 'refused',
  data_inspection_failed: 'refused',
  datainspectionfailed: 'refused',
  invalid_prompt: 'refused',
  misalignment_policy_violation: 'refused',
  // Sent as 400 by some gateways.
  throttlingexception: 'rate-limited',
  servicequotaexceededexception: 'rate-limited',
  // The model wrote what the server could not read; it may write otherwise.
  json_validate_failed: 'truncated',
  output_parse_failed: 'truncated',
  tool_use_failed: 'truncated',
}

/** Broad codes, for errors within a stream, which have no status. */
export const kindOfBroadName: Readonly<Record<string, FailureKind>> = {
  authentication_error: 'unauthorized',
  permission_error: 'unauthorized',
  permission_denied: 'unauthorized',
  unauthenticated: 'unauthorized',
  accessdeniedexception: 'unauthorized',
  unrecognizedclientexception: 'unauthorized',
  not_found_error: 'invalid-request',
  not_found: 'invalid-request',
  resourcenotfoundexception: 'invalid-request',
  invalid_request_error: 'invalid-request',
  invalid_encrypted_content: 'invalid-request',
  invalid_argument: 'invalid-request',
  failed_precondition: 'invalid-request',
  validationexception: 'invalid-request',
  validation_error: 'invalid-request',
  badrequesterror: 'invalid-request',
  rate_limit_error: 'rate-limited',
  rate_limit_exceeded: 'rate-limited',
  resource_exhausted: 'rate-limited',
  too_many_requests: 'rate-limited',
}

/** Texts of providers without a code for a too long prompt. */
const overflowTexts = [
  /(prompt|input|messages?|request|conversation)( text)? (is|are) too (long|large)(?! for this (user|organization))/,
  /(prompt|input) tokens? too long/,
  /longer than (the )?(model'?s? )?(maximum|max|context)\b/,
  /(token count|tokens?)\b.{0,60}\bonly supports? up to/,
  /(?<!\w|(max|output|completion|new) )tokens?\b.{0,60}\bexceeds? (the )?(max|limit|maximum|allowed)/,
  /(prompt|输入|上下文|文本|token).{0,20}(超长|过长|超过|超出)/,
  /exceed(s|ed|ing)? (the |this |your |our )?(model'?s? )?(available |maximum |max )?context/,
  /context (window|length|size)|maximum context|context_length/,
  /exceeded model token limit|prompt too long|too long for (the )?(requested )?model/,
  /(input|prompt) (token )?(count|length|tokens?)\b.{0,80}\bexceed/,
  /(prompt|input|request|messages?)\b.{0,60}\bexceeds? (the |this )?(maximum|max|limit|allowed)\b.{0,60}\b(tokens?|length|prompt)/,
  /maximum (allowed )?(prompt|input|sequence) (length|tokens?|size)/,
  /prompt exceeds max length|input tokens? exceeded|too many (input )?tokens\b/,
  /reduce (the length of|your) (the |your )?(messages|prompt|input|message size)/,
  /range of input length should be/,
  /number of (input )?tokens\b.{0,60}\bexceed/,
  /tokens in request more than max tokens allowed/,
  /`?inputs`?.{0,40}must (have less than|be <=) \d+/,
  /prompt (has|is|contains) \d+ tokens.{0,60}(max|limit)/,
  // No wait makes room for a single request of that size.
  /request too large for\b.{0,200}\btokens per min/,
  /context shift is disabled/,
  /(prompt|input|request)\b.{0,60}\b(larger|longer|more|greater) than (the )?(max|limit|allowed|supported)/,
]

/** Of these the prompt is not the problem. */
const otherLimits =
  /max_tokens is too large|max_(completion|output)_tokens (is|must)|too many (requests|tokens?(, please wait| (per|in the last)))/

export function isOverflowText(message: string): boolean {
  const text = message.toLowerCase()
  return overflowTexts.some((words) => words.test(text)) && !otherLimits.test(text)
}

/** Texts of providers whose filters have no code, or a status of another kind. */
const refusalTexts = [
  /content management policy|content (exists|contains) risk|content filter(ing)? policy/i,
  /inappropriate content|considered high risk|input was flagged|requires moderation/i,
  /violat(es|ing) ((usage|our|the|openai'?s?) )+(guidelines|polic)/i,
  /responsible ai practices|sensitive words/i,
  /(unsafe|sensitive) content|sensitive (content|information)|sensitivecontent|new_sensitive|不安全或敏感/i,
  /output blocked by|blocked by (the )?(safety|content)|prohibited[ _]content/i,
  /rejected (as a result of|by) (our|the) safety system/i,
]

export function isRefusalText(message: string): boolean {
  return refusalTexts.some((words) => words.test(message))
}

/** Texts of providers who want to be paid first: no wait helps. */
const unpaidTexts = [
  /(credit|account) balance is (too low|insufficient|negative)|insufficient (account )?(balance|funds|credits?)\b/i,
  /余额不足|欠费|(used|run out of|exhausted) (all )?(of )?(your |the |its )?(available |prepaid )?credits/i,
  /(reached|exceeded) (its|your|the) (monthly )?spending limit|top up your/i,
]

export function isUnpaidText(message: string): boolean {
  return unpaidTexts.some((words) => words.test(message))
}
