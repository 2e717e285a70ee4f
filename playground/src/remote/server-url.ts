import type { Settings } from '../settings/settings.ts'

/** The base URL of the server's sessions. */
export function serverUrl({ serverUrl: given }: Pick<Settings, 'serverUrl'>): string {
  return (given.trim() === '' ? location.origin : given.trim()).replace(/\/+$/, '')
}

/** The owner of the server's token. */
export function serverOwner(url: string): string {
  return `server ${URL.canParse(url) ? new URL(url).origin : url}`
}
