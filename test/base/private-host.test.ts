import { describe, expect, it } from 'vitest'
import { isLoopbackHost, isPrivateHost } from '../../src/base/private-host.ts'

const hostOf = (host: string) => new URL(`https://${host}/`).hostname

describe('isLoopbackHost and isPrivateHost', () => {
  it.each([
    'localhost',
    'LOCALHOST.',
    'a.localhost',
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::127.0.0.1]',
  ])('recognizes %s as loopback', (host) => {
    expect(isLoopbackHost(hostOf(host))).toBe(true)
    expect(isPrivateHost(hostOf(host))).toBe(true)
  })

  it.each(
    '0.0.0.0 10.0.0.1 100.64.0.1 169.254.169.254 172.31.0.1 192.168.1.1 224.0.0.1 nas.local metadata.google.internal. [::] [fe80::1] [fd00::1] [ff02::1] [::ffff:10.0.0.1] [64:ff9b::a9fe:a9fe]'.split(
      ' ',
    ),
  )('recognizes %s as private', (host) => {
    expect(isPrivateHost(hostOf(host))).toBe(true)
    expect(isLoopbackHost(hostOf(host))).toBe(false)
  })

  it.each('example.com localhost.example.com 8.8.8.8 172.32.0.1 100.128.0.1 192.169.0.1 [2606:4700::1111] 10.example.com'.split(' '))(
    'recognizes %s as public',
    (host) => expect(isPrivateHost(hostOf(host))).toBe(false),
  )
})
