import { type Env, Hono } from 'hono'
import { ConfigError } from '../../../src/index.ts'

/** An empty application. Throws `ConfigError` `unsupported` where another Hono is installed than these routes need: an optional peer of any version installs. */
export function newApp<E extends Env>(): Hono<E> {
  const app = new Hono<E>()
  // Hono says no version; its fourth took this away.
  if ('showRoutes' in app) {
    throw new ConfigError('unsupported', 'phi-core/http needs Hono 4.6 or newer, and an older one is installed. Run: npm install hono@4')
  }
  return app
}
