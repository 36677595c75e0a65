;; The inner loop of the body scanner: 64 bytes of a JSON string at a time.
;;
;; Memory (64 KiB): the text at 0; at 0xc000 the class of each byte, as in string-run.ts: 1 = may follow a backslash,
;; 2 = hex digit. The caller writes both. Reading past the text's end is harmless: results from there are ignored.
(module
  (memory (export "memory") 1)

  ;; Index of the string's closing quote in [at, end), or of the first byte that the caller must check: a control character, an
  ;; escape that is wrong or cut off, or `end`. Correct escapes are skipped.
  (func (export "contentEnd") (param $at i32) (param $end i32) (result i32)
    (local $text v128)
    (local $specials0 v128) (local $specials1 v128) (local $specials2 v128) (local $specials3 v128)
    ;; One bit for each of the 64 bytes that is special: quote, backslash or control character.
    (local $marks i64)
    (local $mark i32)
    (local $next i32)
    (local $flip v128) (local $most v128) (local $backslash v128)
    ;; Flipping bit 1 moves the quote (0x22) to 0x20, next to the control characters, so one comparison finds both.
    (local.set $flip (i8x16.splat (i32.const 0x02)))
    (local.set $most (i8x16.splat (i32.const 0x20)))
    (local.set $backslash (i8x16.splat (i32.const 0x5c)))

    (loop $blocks
      (if (i32.ge_s (local.get $at) (local.get $end)) (then (return (local.get $end))))

      (local.set $text (v128.load (local.get $at)))
      (local.set $specials0 (v128.or
        (i8x16.le_u (v128.xor (local.get $text) (local.get $flip)) (local.get $most))
        (i8x16.eq (local.get $text) (local.get $backslash))))
      (local.set $text (v128.load offset=16 (local.get $at)))
      (local.set $specials1 (v128.or
        (i8x16.le_u (v128.xor (local.get $text) (local.get $flip)) (local.get $most))
        (i8x16.eq (local.get $text) (local.get $backslash))))
      (local.set $text (v128.load offset=32 (local.get $at)))
      (local.set $specials2 (v128.or
        (i8x16.le_u (v128.xor (local.get $text) (local.get $flip)) (local.get $most))
        (i8x16.eq (local.get $text) (local.get $backslash))))
      (local.set $text (v128.load offset=48 (local.get $at)))
      (local.set $specials3 (v128.or
        (i8x16.le_u (v128.xor (local.get $text) (local.get $flip)) (local.get $most))
        (i8x16.eq (local.get $text) (local.get $backslash))))

      (if (v128.any_true (v128.or
            (v128.or (local.get $specials0) (local.get $specials1))
            (v128.or (local.get $specials2) (local.get $specials3))))
        (then
          (local.set $marks (i64.or
            (i64.or
              (i64.extend_i32_u (i8x16.bitmask (local.get $specials0)))
              (i64.shl (i64.extend_i32_u (i8x16.bitmask (local.get $specials1))) (i64.const 16)))
            (i64.or
              (i64.shl (i64.extend_i32_u (i8x16.bitmask (local.get $specials2))) (i64.const 32))
              (i64.shl (i64.extend_i32_u (i8x16.bitmask (local.get $specials3))) (i64.const 48)))))

          (loop $escapes
            (local.set $mark (i32.add (local.get $at) (i32.wrap_i64 (i64.ctz (local.get $marks)))))
            (if (i32.ge_s (local.get $mark) (local.get $end)) (then (return (local.get $end))))
            (if (i32.ne (i32.load8_u (local.get $mark)) (i32.const 0x5c)) (then (return (local.get $mark))))

            (local.set $next (i32.add (local.get $mark) (i32.const 2)))
            (if (i32.eqz (i32.and (i32.const 1) (i32.load8_u offset=0xc000 (i32.load8_u offset=1 (local.get $mark)))))
              (then
                ;; Not a one-letter escape, so it must be u (0x75) and four hex digits.
                (local.set $next (i32.add (local.get $mark) (i32.const 6)))
                (if (i32.ne (i32.load8_u offset=1 (local.get $mark)) (i32.const 0x75)) (then (return (local.get $mark))))
                (if (i32.eqz (i32.and (i32.const 2) (i32.and
                      (i32.and
                        (i32.load8_u offset=0xc000 (i32.load8_u offset=2 (local.get $mark)))
                        (i32.load8_u offset=0xc000 (i32.load8_u offset=3 (local.get $mark))))
                      (i32.and
                        (i32.load8_u offset=0xc000 (i32.load8_u offset=4 (local.get $mark)))
                        (i32.load8_u offset=0xc000 (i32.load8_u offset=5 (local.get $mark)))))))
                  (then (return (local.get $mark))))))
            (if (i32.gt_s (local.get $next) (local.get $end)) (then (return (local.get $mark))))

            ;; If the escape reaches into the next 64 bytes, the next block begins after it; else continue with the later marks.
            (if (i32.ge_s (local.get $next) (i32.add (local.get $at) (i32.const 64)))
              (then (local.set $at (local.get $next)) (br $blocks)))
            (local.set $marks (i64.and
              (local.get $marks)
              (i64.shl (i64.const -1) (i64.extend_i32_u (i32.sub (local.get $next) (local.get $at))))))
            (br_if $escapes (i64.ne (local.get $marks) (i64.const 0))))))

      (local.set $at (i32.add (local.get $at) (i32.const 64)))
      (br $blocks))
    (unreachable))
)
