import { describe, expect, it } from 'vitest';
import { capAmount, mebibytes } from './amount.ts';

describe('memory in MiB', () => {
  it.each([
    ['8Gi', 8192],
    ['1Mi', 1],
    ['1048575', 0],
    ['1G', 953],
    ['1.5Gi', 1536],
    ['0', 0],
    ['2047Ti', 2146435072],
    ['2048Ti', undefined],
    ['1e40', undefined],
    ['-1', undefined],
    ['8GB', undefined],
    ['', undefined],
  ])('%s is %s', (text, mib) => {
    expect(mebibytes(text)).toBe(mib);
  });
});

describe('amounts of a cap', () => {
  it.each([
    ['auto', { kind: 'auto' }],
    ['0', { kind: 'off' }],
    ['0Gi', { kind: 'off' }],
    ['256Mi', { kind: 'mib', mib: 256, text: '256Mi' }],
    ['25%', { kind: 'percent', milliPercent: 25_000, text: '25%' }],
    ['12.5%', { kind: 'percent', milliPercent: 12_500, text: '12.5%' }],
    ['0.1%', { kind: 'percent', milliPercent: 100, text: '0.1%' }],
    ['100%', { kind: 'percent', milliPercent: 100_000, text: '100%' }],
  ])('%s', (text, amount) => {
    expect(capAmount(text)).toEqual(amount);
  });

  it.each([
    '',
    'Auto',
    ' auto',
    'lots',
    '255Mi',
    '1',
    '-1Gi',
    '0%',
    '0.05%',
    '100.1%',
    '101%',
    '1e1%',
    '-5%',
    '5 %',
    '%',
    '8GB',
  ])('"%s" is told what is wrong', (text) => {
    expect(capAmount(text)).toEqual(expect.stringMatching(/^is /));
  });
});
