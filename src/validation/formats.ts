import type { EnforcedFormat } from './enforceable-schema.ts'

const datePattern = /^(\d{4})-(\d{2})-(\d{2})$/
const timePattern = /^(\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:z|[+-](\d{2}):(\d{2}))$/i
const uriPattern = /^[a-z][a-z0-9+.-]*:(?:[a-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9a-f]{2})*$/i
const uuidPattern = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i
const localPattern = /^[a-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}$/i
const labelPattern = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i
const octetPattern = /^(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)$/
const groupPattern = /^[0-9a-f]{1,4}$/i

/** Validators for the enforced formats. No pattern backtracks, so time is linear even for hostile input. Source: docs/concepts/tools.md */
export const formatChecks: Readonly<Record<EnforcedFormat, (text: string) => boolean>> = {
  date: isDate,
  time: isTime,
  'date-time': isDateTime,
  email: isEmail,
  uri: (text) => uriPattern.test(text),
  uuid: (text) => uuidPattern.test(text),
  ipv4: isIpv4,
  ipv6: isIpv6,
}

function isDate(text: string): boolean {
  const [, year, month, day] = datePattern.exec(text) ?? []
  if (year === undefined || month === undefined || day === undefined) return false
  const date = new Date(0)
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  // Compare the month, because an invalid day rolls over into another month.
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day)
}

function isTime(text: string): boolean {
  const [, hour, minute, second, offsetHour = '0', offsetMinute = '0'] = timePattern.exec(text) ?? []
  if (hour === undefined) return false
  return Number(hour) < 24 && Number(minute) < 60 && Number(second) <= 60 && Number(offsetHour) < 24 && Number(offsetMinute) < 60
}

function isDateTime(text: string): boolean {
  return /^t$/i.test(text.charAt(10)) && isDate(text.slice(0, 10)) && isTime(text.slice(11))
}

function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@')
  const local = text.slice(0, at)
  const host = text.slice(at + 1)
  if (at < 1 || host.length > 253 || !localPattern.test(local)) return false
  if (local.startsWith('.') || local.endsWith('.') || local.includes('..')) return false
  return host.split('.').every((label) => labelPattern.test(label))
}

function isIpv4(text: string): boolean {
  const octets = text.split('.')
  return octets.length === 4 && octets.every((octet) => octetPattern.test(octet))
}

function isIpv6(text: string): boolean {
  const halves = text.split('::')
  if (halves.length > 2) return false
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')))
  const last = groups.at(-1) ?? ''
  const embedsIpv4 = last.includes('.')
  if (embedsIpv4 && (!isIpv4(last) || text.endsWith('::'))) return false
  const plain = embedsIpv4 ? groups.slice(0, -1) : groups
  const length = plain.length + (embedsIpv4 ? 2 : 0)
  return plain.every((group) => groupPattern.test(group)) && (halves.length === 2 ? length < 8 : length === 8)
}
