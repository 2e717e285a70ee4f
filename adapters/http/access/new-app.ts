import { type Env, Hono } from 'hono'
import { ConfigError } from '../../../src/index.ts'

/**
 * Creates an empty app. Throws `ConfigError` `unsupported` if the installed Hono, an optional peer, is too old for these routes.
 */
export function newApp<E extends Env>(): Hono<E> {
  const app = new Hono<E>()
  // Hono exports no version, but version 4 removed this method.
  if ('showRoutes' in app) {
    throw new ConfigError('unsupported', 'phi-core/http needs Hono 4.6 or newer, and an older one is installed. Run: npm install hono@4')
  }
  return app
}
