import { parsedJson } from '../../../base/json/json-value.ts'
/** Facts extracted from an error body of any shape. */
export interface ErrorFacts {
  /** The HTTP status, or the status that corresponds to the error name. */
  status?: number
  /** The provider's message. The raw body if its shape is unknown. */
  text: string
  /** The complete text of the body. */
  raw: string
  /** The invalid field, if the provider reports it separately. */
  param?: string
  /** Error types and codes, for matching. */
  names: string
  /** Whether the status or error name reports too many requests or tokens per minute. AWS also throttles with 400. */
  isThrottled: boolean
  /** Whether the key is invalid although the status does not say so. */
  isBadKey: boolean
  /** Whether the model does not exist although the status does not say so. Retries are useless. */
  isMissingModel: boolean
  /** Whether a quota, credit or spend limit was reached, so that a retry after a delay is useless. */
  isExhausted: boolean
  /** Google's `RetryInfo.retryDelay`, such as `34s`. */
  retryDelay?: string
}

type Fields = Record<string, unknown>

/** HTTP statuses by error name. Names are compared in lower case, without `_`, `-` and the suffixes `error` and `exception`. */
const statusByName: Record<string, number> = {
  invalidrequest: 400,
  validation: 400,
  authentication: 401,
  unauthenticated: 401,
  invalidapikey: 401,
  billing: 402,
  permission: 403,
  permissiondenied: 403,
  accessdenied: 403,
  unrecognizedclient: 403,
  invalidclienttokenid: 403,
  expiredtoken: 403,
  invalidsignature: 403,
  incompletesignature: 403,
  signaturedoesnotmatch: 403,
  requestexpired: 403,
  missingauthenticationtoken: 403,
  notfound: 404,
  resourcenotfound: 404,
  modeltimeout: 408,
  requesttimeout: 408,
  requesttoolarge: 413,
  ratelimit: 429,
  ratelimited: 429,
  ratelimitexceeded: 429,
  ratelimitreached: 429,
  toomanyrequests: 429,
  throttling: 429,
  throttled: 429,
  requestlimitexceeded: 429,
  resourceexhausted: 429,
  insufficientquota: 429,
  modelnotready: 429,
  api: 500,
  server: 500,
  internal: 500,
  internalserver: 500,
  internalfailure: 500,
  modelstream: 500,
  badgateway: 502,
  serviceunavailable: 503,
  unavailable: 503,
  timeout: 504,
  deadlineexceeded: 504,
  gatewaytimeout: 504,
  // z.ai codes: too many concurrent requests, too many requests, overloaded.
  '1302': 429,
  '1303': 429,
  '1305': 429,
  overloaded: 529,
  engineoverloaded: 529,
  serverisoverloaded: 529,
  slowdown: 529,
}

/** MiniMax codes in `base_resp`, sent with status 200. */
const baseStatus: Record<string, number> = {
  1000: 500,
  1001: 504,
  1002: 429,
  1004: 401,
  1008: 402,
  1013: 500,
  1024: 500,
  1033: 500,
  1039: 429,
  2049: 401,
}

/** Messages about an invalid key with a different status: xAI, Google and AWS use 400. Gateways send them in a stream. */
const badKey =
  /(incorrect|invalid|expired|missing|wrong) (x-)?(api|access|secret|authentication)[ _-]?(key|token|credentials)|invalid[_-]api[_-]key|api_key_invalid|api key (is )?(not valid|invalid|incorrect|expired|missing|not found)|no (api|auth)[a-z]*[ _-]?(key|credentials)? ?(was |were )?(provided|found|supplied)|invalid authentication|(could not|failed to) authenticate|authentication (failed|failure)|security token included in the request is (invalid|expired)|token (is|has) (invalid|expired)|login fail/i

/** Messages about an unknown model, which may arrive in a stream or with names such as `server_error`. */
const missingModel =
  /\bmodel\b.{0,100}\b(not found|does not exist|doesn.t exist)|\b(no such|unknown) model\b|(model|deployment)[_-]?not[_-]?found/i

/** The last pattern matches Google's daily quota, for which the suggested retry delay is useless. */
const exhausted =
  /insufficient_quota|spend_limit_reached|billing_error|credit balance is too low|billing_not_active|"quotaId":\s*"[^"]*PerDay/

/**
 * Extracts facts from `body` (response text, or a parsed error object). Never throws. `typeHeader` is the error name if the provider sends
 * it in a header (`x-amzn-errortype`).
 */
export function readErrorFacts(body: unknown, httpStatus: number | undefined, typeHeader?: string | null): ErrorFacts {
  const raw = typeof body === 'string' ? body : jsonText(body)
  const outer = fieldsOf(typeof body === 'string' ? parse(body) : body)
  const inner = fieldsOf(outer.error)
  const base = fieldsOf(outer.base_resp)
  const named = [inner.type, inner.code, inner.status, outer.type, outer.code, outer.status, outer.__type, typeHeader]
  const names = named.filter((name) => typeof name === 'string' || typeof name === 'number')
  const messageText =
    firstString(
      inner.message,
      base.status_msg,
      outer.message,
      outer.Message,
      outer.detail,
      outer.error,
      outer.msg,
      inner.code,
      outer.code,
    ) ?? raw
  const upstream = upstreamText(fieldsOf(inner.metadata ?? outer.metadata))
  const text = upstream === '' || messageText.includes(upstream) ? messageText : `${messageText}: ${upstream}`
  const isInside = httpStatus === undefined || httpStatus < 300
  const isMissingModel = isInside && missingModel.test(`${text} ${names.join(' ')}`)
  const nameStatus = isMissingModel ? 404 : (statusOf(names) ?? baseStatus[String(base.status_code)])
  const status = isInside ? nameStatus : httpStatus
  const mayBeKey = status === undefined || status === 400 || status === 404 || status === 422
  const facts: ErrorFacts = {
    text,
    raw,
    names: names.filter((name) => typeof name === 'string').join(' '),
    isThrottled: status === 429 || (nameStatus === 429 && status !== 413) || /please wait before trying again/i.test(text),
    isBadKey: mayBeKey && (nameStatus === 401 || nameStatus === 403 || badKey.test(`${text} ${names.join(' ')}`) || badKey.test(raw)),
    isMissingModel,
    isExhausted: status === 402 || exhausted.test(raw),
  }
  if (status !== undefined) facts.status = status
  const param = firstString(inner.param, outer.param)
  if (param !== undefined) facts.param = param
  const delay = /"retryDelay":\s*"([\d.]+s)"/.exec(raw)?.[1]
  if (delay !== undefined) facts.retryDelay = delay
  return facts
}

/** Returns the message from the provider behind OpenRouter, because OpenRouter's own message contains no details. */
function upstreamText({ raw, provider_name: name }: Fields): string {
  const body = typeof raw === 'string' ? raw : raw === undefined || raw === null ? '' : jsonText(raw)
  if (body === '') return ''
  const outer = fieldsOf(parse(body))
  const inner = fieldsOf(outer.error)
  const messageText = firstString(inner.message, outer.message, outer.Message, outer.detail, outer.error) ?? body
  return typeof name === 'string' && name !== '' ? `${name}: ${messageText}` : messageText
}

/** Parses JSON text, or the data of server-sent events, because some providers send errors in the format of the rejected response. */
function parse(text: string): unknown {
  const data = Array.from(text.matchAll(/^data:(.*)$/gm), ([, line]) => line).join('\n')
  return parsedJson(data === '' ? text : data)
}

/** Returns a value as JSON. Ignores a value that is nested too deeply for the stack. */
function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    return 'The error body is nested too deeply to read.'
  }
}

/** Returns the fields of an error object. Google sometimes wraps the error in an array. */
function fieldsOf(value: unknown): Fields {
  const one: unknown = Array.isArray(value) ? value[0] : value
  // Every property is validated before use.
  return typeof one === 'object' && one !== null ? (one as Fields) : {}
}

function firstString(...values: unknown[]): string | undefined {
  return values.find((value): value is string => typeof value === 'string' && value !== '')
}

function statusOf(names: readonly unknown[]): number | undefined {
  for (const name of names) {
    const number = typeof name === 'string' && /^\d{3}$/.test(name) ? Number(name) : name
    if (typeof number === 'number' && number >= 400 && number < 600) return number
    if (typeof name !== 'string' && typeof name !== 'number') continue
    const key = String(name)
      // AWS names have the form `namespace#Name` or `Name:address`.
      .replace(/^.*#|:.*$/g, '')
      .toLowerCase()
      .replace(/[_-]/g, '')
      .replace(/(error)?(exception)?$/, '')
    if (Object.hasOwn(statusByName, key)) return statusByName[key]
  }
  return undefined
}
