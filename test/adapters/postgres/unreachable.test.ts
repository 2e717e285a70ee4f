import { Pool } from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { migrate, postgresSessionStore, type SqlPool } from '../../../adapters/postgres/index.ts'

const failing = (code: string): SqlPool => ({
  query: () => Promise.reject(Object.assign(new Error('postgres://phi:secret@db'), { code })),
})

describe('an unreachable PostgreSQL server', () => {
  it.each(['ECONNREFUSED', 'ENOTFOUND', '28P01', '3D000'])('suggests checking DATABASE_URL for code %s', async (code) => {
    const asked = postgresSessionStore({ pool: failing(code) }).tail('s')
    const text = `cannot connect to PostgreSQL (code ${code}). Check that it runs, and the address and the user of the pool, such as in DATABASE_URL.`
    await expect(asked).rejects.toMatchObject({ code: 'io', message: `Session s: ${text}` })
    await expect(migrate({ pool: failing(code) })).rejects.toMatchObject({ code: 'io', message: `Cannot create the tables: ${text}` })
  })

  it('reports that the port is closed', async () => {
    const pool = new Pool({ host: '127.0.0.1', port: 1 })
    onTestFinished(() => pool.end())
    await expect(migrate({ pool })).rejects.toThrow('cannot connect to PostgreSQL (code ECONNREFUSED)')
  })

  it('preserves other error codes in migrate', async () => {
    await expect(postgresSessionStore({ pool: failing('57P01') }).tail('s')).rejects.toThrow('PostgreSQL failed')
    await expect(migrate({ pool: failing('57P01') })).rejects.toMatchObject({ code: '57P01' })
  })

  it('explains how to create a missing pool', async () => {
    const words = 'new Pool({ connectionString: process.env.DATABASE_URL }) of pg'
    expect(() => postgresSessionStore({ pool: process.env as never })).toThrow(words)
    await expect(migrate({ pool: 'postgres://db' as never })).rejects.toThrow(words)
  })
})
