import { ConfigError } from '../../types/errors.ts'

/**
 * The address of Vertex AI for a location: one host for all of the world, one per continent, one per region.
 * Throws `ConfigError` `invalidOption` for what is no location: a key would go to another host.
 * Source: reference/providers.md §5 "URL", §7 #30.
 */
export function vertexHost(location: string): string {
  if (!/^[a-z0-9-]+$/.test(location)) {
    throw new ConfigError('invalidOption', `location "${location}" is none of Vertex AI. Give one such as global, eu or us-central1.`)
  }
  if (location === 'global') return 'https://aiplatform.googleapis.com'
  if (location === 'us' || location === 'eu') return `https://aiplatform.${location}.rep.googleapis.com`
  return `https://${location}-aiplatform.googleapis.com`
}
