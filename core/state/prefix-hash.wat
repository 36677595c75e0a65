;; Hashes a prompt, 32 bytes a step; see prefix-hash.ts.
;;
;; Memory (64 KiB): the text at 0; at 0x8000 the state between calls: four lanes, their sums and the multiplier, 64 bits each, then
;; the position in the prompt and the number of the block, 32 bits each; at 0x9000 the blocks' ends, 32 bits each; at 0xc000 the
;; blocks' hashes, 64 bits each.
(module
  (memory (export "memory") 1)

  ;; Hashes the text in [0, to), or less when all blocks are done; `to` is a multiple of eight.
  (func (export "take") (param $to i32) (param $blocks i32)
    (local $at i32) (local $stop i32) (local $position i32) (local $block i32) (local $end i32)
    (local $spare i64) (local $hash i64) (local $odd i64)
    (local $lane0 i64) (local $sum0 i64)
    (local $lane1 i64) (local $sum1 i64)
    (local $lane2 i64) (local $sum2 i64)
    (local $lane3 i64) (local $sum3 i64)
    (local.set $lane0 (i64.load offset=0x8000 (i32.const 0)))
    (local.set $lane1 (i64.load offset=0x8008 (i32.const 0)))
    (local.set $lane2 (i64.load offset=0x8010 (i32.const 0)))
    (local.set $lane3 (i64.load offset=0x8018 (i32.const 0)))
    (local.set $sum0 (i64.load offset=0x8020 (i32.const 0)))
    (local.set $sum1 (i64.load offset=0x8028 (i32.const 0)))
    (local.set $sum2 (i64.load offset=0x8030 (i32.const 0)))
    (local.set $sum3 (i64.load offset=0x8038 (i32.const 0)))
    (local.set $odd (i64.load offset=0x8040 (i32.const 0)))
    (local.set $position (i32.load offset=0x8048 (i32.const 0)))
    (local.set $block (i32.load offset=0x804c (i32.const 0)))

    (block $done
      (loop $pieces
        (br_if $done (i32.ge_s (local.get $at) (local.get $to)))
        (br_if $done (i32.ge_s (local.get $block) (local.get $blocks)))
        (local.set $end (i32.load offset=0x9000 (i32.shl (local.get $block) (i32.const 2))))
        (local.set $stop (i32.add (local.get $at) (i32.sub (local.get $end) (local.get $position))))
        (if (i32.gt_s (local.get $stop) (local.get $to)) (then (local.set $stop (local.get $to))))
        (local.set $position (i32.add (local.get $position) (i32.sub (local.get $stop) (local.get $at))))

        (block $short
          (loop $steps
            (br_if $short (i32.gt_s (i32.add (local.get $at) (i32.const 32)) (local.get $stop)))
            (local.set $lane0 (i64.mul (local.get $odd)
              (i64.xor (i64.rotl (local.get $lane0) (i64.const 29)) (i64.load (local.get $at)))))
            (local.set $sum0 (i64.add (i64.rotl (local.get $sum0) (i64.const 23)) (local.get $lane0)))
            (local.set $lane1 (i64.mul (local.get $odd)
              (i64.xor (i64.rotl (local.get $lane1) (i64.const 29)) (i64.load offset=8 (local.get $at)))))
            (local.set $sum1 (i64.add (i64.rotl (local.get $sum1) (i64.const 23)) (local.get $lane1)))
            (local.set $lane2 (i64.mul (local.get $odd)
              (i64.xor (i64.rotl (local.get $lane2) (i64.const 29)) (i64.load offset=16 (local.get $at)))))
            (local.set $sum2 (i64.add (i64.rotl (local.get $sum2) (i64.const 23)) (local.get $lane2)))
            (local.set $lane3 (i64.mul (local.get $odd)
              (i64.xor (i64.rotl (local.get $lane3) (i64.const 29)) (i64.load offset=24 (local.get $at)))))
            (local.set $sum3 (i64.add (i64.rotl (local.get $sum3) (i64.const 23)) (local.get $lane3)))
            (local.set $at (i32.add (local.get $at) (i32.const 32)))
            (br $steps)))

        ;; The rest of a piece, eight bytes a step. Each step rotates the lanes by one, so four of them equal one step above.
        (block $taken
          (loop $words
            (br_if $taken (i32.ge_s (local.get $at) (local.get $stop)))
            (local.set $lane0 (i64.mul (local.get $odd)
              (i64.xor (i64.rotl (local.get $lane0) (i64.const 29)) (i64.load (local.get $at)))))
            (local.set $sum0 (i64.add (i64.rotl (local.get $sum0) (i64.const 23)) (local.get $lane0)))
            (local.set $spare (local.get $lane0))
            (local.set $lane0 (local.get $lane1)) (local.set $lane1 (local.get $lane2))
            (local.set $lane2 (local.get $lane3)) (local.set $lane3 (local.get $spare))
            (local.set $spare (local.get $sum0))
            (local.set $sum0 (local.get $sum1)) (local.set $sum1 (local.get $sum2))
            (local.set $sum2 (local.get $sum3)) (local.set $sum3 (local.get $spare))
            (local.set $at (i32.add (local.get $at) (i32.const 8)))
            (br $words)))

        (if (i32.eq (local.get $position) (local.get $end))
          (then
            ;; Every bit of a block's hash depends on all lanes and sums.
            (local.set $hash (i64.const 0))
            (local.set $hash (i64.add (local.get $hash) (i64.rotl
              (i64.mul (i64.const 0x9e3779b185ebca87) (i64.xor (local.get $lane0) (i64.shr_u (local.get $lane0) (i64.const 32))))
              (i64.const 7))))
            (local.set $hash (i64.add (local.get $hash)
              (i64.mul (i64.const 0x27d4eb2f165667c5) (i64.xor (local.get $sum0) (i64.shr_u (local.get $sum0) (i64.const 32))))))
            (local.set $hash (i64.add (local.get $hash) (i64.rotl
              (i64.mul (i64.const 0xc2b2ae3d27d4eb4f) (i64.xor (local.get $lane1) (i64.shr_u (local.get $lane1) (i64.const 32))))
              (i64.const 18))))
            (local.set $hash (i64.add (local.get $hash)
              (i64.mul (i64.const 0xff51afd7ed558ccd) (i64.xor (local.get $sum1) (i64.shr_u (local.get $sum1) (i64.const 32))))))
            (local.set $hash (i64.add (local.get $hash) (i64.rotl
              (i64.mul (i64.const 0x165667b19e3779f9) (i64.xor (local.get $lane2) (i64.shr_u (local.get $lane2) (i64.const 32))))
              (i64.const 29))))
            (local.set $hash (i64.add (local.get $hash)
              (i64.mul (i64.const 0xc4ceb9fe1a85ec53) (i64.xor (local.get $sum2) (i64.shr_u (local.get $sum2) (i64.const 32))))))
            (local.set $hash (i64.add (local.get $hash) (i64.rotl
              (i64.mul (i64.const 0x85ebca77c2b2ae63) (i64.xor (local.get $lane3) (i64.shr_u (local.get $lane3) (i64.const 32))))
              (i64.const 40))))
            (local.set $hash (i64.add (local.get $hash)
              (i64.mul (i64.const 0xd6e8feb86659fd93) (i64.xor (local.get $sum3) (i64.shr_u (local.get $sum3) (i64.const 32))))))
            (local.set $hash (i64.xor (local.get $hash) (i64.shr_u (local.get $hash) (i64.const 29))))
            (local.set $hash (i64.mul (local.get $hash) (i64.const 0xbf58476d1ce4e5b9)))
            (i64.store offset=0xc000 (i32.shl (local.get $block) (i32.const 3))
              (i64.xor (local.get $hash) (i64.shr_u (local.get $hash) (i64.const 32))))
            (local.set $block (i32.add (local.get $block) (i32.const 1)))))
        (br $pieces)))

    (i64.store offset=0x8000 (i32.const 0) (local.get $lane0))
    (i64.store offset=0x8008 (i32.const 0) (local.get $lane1))
    (i64.store offset=0x8010 (i32.const 0) (local.get $lane2))
    (i64.store offset=0x8018 (i32.const 0) (local.get $lane3))
    (i64.store offset=0x8020 (i32.const 0) (local.get $sum0))
    (i64.store offset=0x8028 (i32.const 0) (local.get $sum1))
    (i64.store offset=0x8030 (i32.const 0) (local.get $sum2))
    (i64.store offset=0x8038 (i32.const 0) (local.get $sum3))
    (i32.store offset=0x8048 (i32.const 0) (local.get $position))
    (i32.store offset=0x804c (i32.const 0) (local.get $block)))
)
